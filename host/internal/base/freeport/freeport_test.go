package freeport

import (
	"net"
	"testing"
)

// TestFindAddrs listens on what is found, while nobody else gets any of it.
func TestFindAddrs(t *testing.T) {
	addrs, err := FindAddrs(50)
	if err != nil || len(addrs) != 50 {
		t.Fatalf("%d addresses, %v; want 50", len(addrs), err)
	}
	for _, addr := range addrs {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if port := l.Addr().(*net.TCPAddr).Port; port < first || port >= end {
			t.Errorf("port %d is not from %d to %d", port, first, end-1)
		}
	}
}
