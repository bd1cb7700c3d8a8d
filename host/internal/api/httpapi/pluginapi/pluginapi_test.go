package pluginapi

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

// TestHash takes the hash of a module as it is written everywhere, or none, and no module of another hash.
func TestHash(t *testing.T) {
	for sum, ok := range map[string]bool{strings.Repeat("0a", 32): true, "": true, strings.Repeat("0A", 32): false, strings.Repeat("0", 63): false, strings.Repeat("g", 64): false} {
		if err := checkHash(sum); (err == nil) != ok {
			t.Errorf("checkHash(%q) = %v, want it taken: %v", sum, err, ok)
		}
	}
	f := &deploy.Fetched{Module: []byte("module")}
	if err := expect(f, strings.Repeat("0", 64)); err == nil {
		t.Error("a module of another hash is taken")
	}
}

// TestHide shows a caller of plugins alone whose input made one fail only where it may know workspaces.
func TestHide(t *testing.T) {
	make := func() *Plugin {
		return &Plugin{LastFault: &PastFault{Workspace: "hr", Key: "k1", At: time.Now()}, Clients: []FaultyClient{{Workspace: "hr", Key: "k1"}}}
	}
	p := make()
	seen := p.LastFault
	p.hide(&auth.Caller{})
	if p.LastFault.Workspace != "" || p.LastFault.Key != "" || p.Clients != nil {
		t.Errorf("a caller without rights sees %+v and %v", *p.LastFault, p.Clients)
	}
	if seen.Workspace != "hr" {
		t.Error("what is hidden from one caller is gone for others")
	}
	all := make()
	all.hide(auth.Everyone())
	if all.LastFault.Workspace != "hr" || all.LastFault.Key != "k1" || len(all.Clients) != 1 || all.Clients[0].Key != "k1" {
		t.Errorf("a caller with all rights sees %+v and %v", *all.LastFault, all.Clients)
	}
}
