package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// asksForCluster is what a file says that asks whether there is a cluster.
var asksForCluster = regexp.MustCompile(`(?i)\b(cluster|node|follower|keeper|shared|notes) *[!=]= *nil|\bcluster\.name *[!=]= *""|\bShared\(\)`)

// mayAskForCluster are the files that ask: each chooses once who does for a node of a cluster, or
// for a host alone, what differs.
var mayAskForCluster = map[string]string{
	"cli/cluster.go":          "the command needs a cluster",
	"cli/quickstart_nodes.go": "a program that was started, no node of a cluster",
	"node/node.go":            "a node of a cluster, or a host alone",
	"node/plugins.go":         "what the options of a node say of its plugins",
	"search/index/catalog.go": "the keeper of the indexes",
	"store/transaction.go":    "who makes changes: an interface would cost an allocation",
	"httpapi/server.go":       "a host alone, where nothing is said",
}

// TestNobodyAsksForCluster: what differs in a cluster is behind an interface, with a second form
// for a host alone.
func TestNobodyAsksForCluster(t *testing.T) {
	root := filepath.Join("..", "..")
	used := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, "host"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found := asksForCluster.Find(text)
		if found == nil {
			return nil
		}
		for file := range mayAskForCluster {
			if strings.HasSuffix(filepath.ToSlash(path), "/"+file) {
				used[file] = true
				return nil
			}
		}
		t.Errorf("%s asks whether there is a cluster (%s): put what differs behind an interface, as package node has one", path, found)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file := range mayAskForCluster {
		if !used[file] {
			t.Errorf("mayAskForCluster has %s, which does not ask", file)
		}
	}
}
