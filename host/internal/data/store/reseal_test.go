package store

import (
	"errors"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// What a crash leaves of sealing anew is in force as a whole from one moment
// on, and nothing before it.
func TestResealCrash(t *testing.T) {
	for _, tt := range []struct {
		name    string
		inForce bool
		want    string
	}{{"before the moment", false, "old"}, {"behind it", true, "new"}} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			records := map[string]string{"w/a": "old", "w/b": "old", "z/w/a": "new", "z/w/b": "new"}
			if tt.inForce {
				records[keyAnew] = "1"
				records["w/a"] = "new" // a part was in its place already
			}
			fill(t, s, records)
			for range 2 {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if s, err = Open(dir); err != nil {
					t.Fatal(err)
				}
				if got := all(t, s); len(got) != 2 || got["w/a"] != tt.want || got["w/b"] != tt.want {
					t.Errorf("after a start: %q, want two records that are %s", got, tt.want)
				}
				if v, err := s.meta(keyAnew); v != "" || err != nil {
					t.Errorf("%s is still set, or %v", keyAnew, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// More secrets than one transaction holds are sealed anew, all or none.
func TestResealMany(t *testing.T) {
	s := open2(t)
	sealer := func(key string) *Sealer {
		k, err := NewSealer([]byte(key))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	from, to := sealer("the old one"), sealer("the new one")
	prompt := strings.Repeat("x", 10_000) // so that a transaction is soon full
	const n = 400
	key := func(i int) string { return string(rune('a'+i%26)) + string(rune('a'+i/26)) }
	for i := range n {
		by := from
		if i == n-1 {
			by = sealer("a third one")
		}
		err := s.Workspaces(by).UpdateWorkspace(t.Context(), key(i), func(*workspace.Workspace) (*workspace.Workspace, error) {
			return &workspace.Workspace{UID: key(i), APIKey: secret.New("secret " + key(i)), Prompts: workspace.PromptTexts{System: &prompt}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	before := all(t, s)
	done, err := s.Reseal(t.Context(), from, to, false)
	if e, ok := errors.AsType[*UnopenedError](err); !ok || len(e.Secrets) != 1 || len(done.Dropped) != 1 {
		t.Errorf("Reseal of a secret under a third key = %v, want that it is named", err)
	}
	if after := all(t, s); len(after) != len(before) || after["w/aa"] != before["w/aa"] {
		t.Error("a refused Reseal changed something")
	}
	if done, err = s.Reseal(t.Context(), from, to, true); err != nil || len(done.Kept) != n-1 || len(done.Dropped) != 1 {
		t.Fatalf("Reseal = %d kept, %v dropped, %v", len(done.Kept), done.Dropped, err)
	}
	for i := range n {
		w, err := s.Workspaces(to).Workspace(t.Context(), key(i))
		if err != nil || w.KeyUnreadable || i < n-1 && w.APIKey.Reveal() != "secret "+key(i) || i == n-1 && !w.APIKey.IsZero() {
			t.Fatalf("workspace %s under the new key: %+v, %v", key(i), w, err)
		}
	}
	if name, err := s.SealedUnder(); err != nil || name != to.Name() || s.CheckKey(from) == nil || s.CheckKey(to) != nil {
		t.Errorf("sealed under %s, %v; want %s alone", name, err, to.Name())
	}
}
