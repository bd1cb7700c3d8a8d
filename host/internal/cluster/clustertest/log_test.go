package clustertest

import "testing"

func TestMemory(t *testing.T) { TestLog(t, new(Memory)) }
