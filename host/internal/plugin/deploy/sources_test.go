package deploy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin"
)

// theirs is a plugin for the source of x that may reach an origin of its own, with
// the key.
func theirs(t testing.TB, name, version string) []byte {
	t.Helper()
	return module(t, name, version, map[string]any{
		"source": "testAi",
		"grants": map[string]any{"http": []string{"https://evil.example"}, "secrets": []string{"apiKey"}},
	})
}

// harmless is x without secrets.
func harmless(t testing.TB) []byte {
	t.Helper()
	return module(t, "x", "1.0.0", map[string]any{"grants": map[string]any{"http": []string{"https://api.example.com"}}})
}

// answersOf is who answers testAi by the lock of in.
func answersOf(t testing.TB, in *Installer) string {
	t.Helper()
	p, err := in.Dir.Locked(in.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	return p.Sources["testAi"]
}

// TestSourceTaken installs a plugin of another name for a source that has one,
// pinned or carried by the binary: a name before it in the alphabet, a higher
// version, other grants.
func TestSourceTaken(t *testing.T) {
	for _, how := range []string{"pinned", "carried"} {
		t.Run(how, func(t *testing.T) {
			in := newInstaller(t)
			if how == "carried" {
				in.Embedded = [][]byte{harmless(t)}
			} else {
				install(t, in, harmless(t), InstallOptions{})
			}
			for _, o := range []InstallOptions{{}, {Grant: true}} {
				_, err := in.Install(t.Context(), &Fetched{Module: theirs(t, "dup", "9.0.0"), Place: "dup.wasm"}, o)
				taken, ok := errors.AsType[*TakenError](err)
				if !ok || taken.Change.Owner != "x" || !slices.Equal(taken.Change.Widened.HTTP, []string{"https://evil.example"}) || !slices.Equal(taken.Change.Widened.Secrets, []string{"apiKey"}) {
					t.Fatalf("Install with %+v: %v, want a TakenError about https://evil.example and apiKey", o, err)
				}
				for _, want := range []string{
					"plugin dup 9.0.0 is for the source testAi, which plugin x answers", "requests to https://evil.example, the secret apiKey",
					"`parley plugin diff x dup.wasm ", "`parley plugin install dup.wasm --take-source ", "`parley plugin install dup.wasm --beside ",
				} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("error %q, want %q in it", err, want)
					}
				}
			}
			if _, err := os.Stat(in.Dir.file("dup", "9.0.0")); !errors.Is(err, os.ErrNotExist) || answersOf(t, in) != "x" {
				t.Fatalf("a refused install left its file (%v), or took the source: %q answers", err, answersOf(t, in))
			}
			if _, err := in.Install(t.Context(), &Fetched{Module: theirs(t, "dup", "9.0.0"), Place: "f"}, InstallOptions{TakeSource: true, Beside: true}); !errors.Is(err, errTakeBeside) {
				t.Errorf("Install beside and in place: %v, want %v", err, errTakeBeside)
			}

			if c := install(t, in, theirs(t, "dup", "8.0.0"), InstallOptions{Beside: true}); c.Owner != "x" || c.Use != "8.0.0" || answersOf(t, in) != "x" {
				t.Errorf("Install beside = %+v, %q answers; want x", c, answersOf(t, in))
			}
			if _, err := in.Install(t.Context(), &Fetched{Module: theirs(t, "dup", "9.0.0"), Place: "f"}, InstallOptions{}); err == nil {
				t.Error("Install of a newer one of those beside: no error")
			}
			c := install(t, in, theirs(t, "dup", "9.0.0"), InstallOptions{TakeSource: true})
			if c.OwnerBefore != "x" || c.Owner != "dup" || c.Use != "9.0.0" || answersOf(t, in) != "dup" || c.Widened.IsZero() {
				t.Errorf("Install in its place = %+v, %q answers; want dup, and what it may do more", c, answersOf(t, in))
			}
			for _, want := range []struct{ use, owner string }{{"8.0.0", "x"}, {"9.0.0", "dup"}, {"8.0.0", "x"}} {
				if c, err := in.Rollback(t.Context(), "dup"); err != nil || c.Use != want.use || c.Owner != want.owner || answersOf(t, in) != want.owner {
					t.Fatalf("Rollback = %+v, %v; want %+v", c, err, want)
				}
			}
			checkDir(t, in.Dir)
		})
	}
}

// TestSourcePin puts a file for a bound source into the directory: to pin it asks
// like to install it.
func TestSourcePin(t *testing.T) {
	in := newInstaller(t)
	install(t, in, harmless(t), InstallOptions{})
	if err := os.WriteFile(in.Dir.file("dup", "1.0.0"), theirs(t, "dup", "1.0.0"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Pin(t.Context(), "dup@1.0.0", InstallOptions{Grant: true}); err == nil || !strings.Contains(err.Error(), "`parley plugin pin dup@1.0.0 --take-source") {
		t.Errorf("Pin: %v", err)
	}
	if c, err := in.Pin(t.Context(), "dup@1.0.0", InstallOptions{TakeSource: true}); err != nil || c.Owner != "dup" {
		t.Errorf("Pin in its place = %+v, %v", c, err)
	}
	if _, err := in.Remove(t.Context(), "dup"); err != nil || answersOf(t, in) != "" {
		t.Errorf("Remove: %v, and %q answers; want nobody until somebody chooses", err, answersOf(t, in))
	}
	if _, err := in.Install(t.Context(), &Fetched{Module: theirs(t, "another", "1.0.0"), Place: "f"}, InstallOptions{}); err == nil || !strings.Contains(err.Error(), "which plugin x answers") {
		t.Errorf("Install for a source that nobody chose for: %v", err)
	}
	if c, err := in.Bind(t.Context(), "testAi", "x", false); err != nil || c.Owner != "x" {
		t.Errorf("Bind = %+v, %v", c, err)
	}
}

// TestBind moves a source between a plugin that the binary carries and one that
// may reach more.
func TestBind(t *testing.T) {
	in := newInstaller(t)
	in.Embedded = [][]byte{harmless(t)}
	install(t, in, theirs(t, "dup", "1.0.0"), InstallOptions{Beside: true})
	_, err := in.Bind(t.Context(), "testAi", "dup", false)
	if widened, ok := errors.AsType[*WidenedError](err); !ok || widened.Change.Widened.String() != "requests to https://evil.example, the secret apiKey" || !strings.Contains(err.Error(), "`parley plugin source testAi dup --grant") {
		t.Errorf("Bind of a wider one: %v", err)
	}
	if c, err := in.Bind(t.Context(), "testAi", "dup", true); err != nil || c.Owner != "dup" || answersOf(t, in) != "dup" {
		t.Errorf("Bind with a yes = %+v, %v", c, err)
	}
	bindings, err := in.Sources()
	if err != nil || len(bindings) != 1 || fmt.Sprint(bindings[0]) != "{testAi dup true [x]}" {
		t.Errorf("Sources = %+v, %v", bindings, err)
	}
	if c, err := in.Bind(t.Context(), "testAi", "x", true); err != nil || c.Owner != "x" || answersOf(t, in) != "x" {
		t.Errorf("Bind to what the binary carries = %+v, %v", c, err)
	}
	for name, want := range map[string]string{"absent": "there is no plugin absent", "dup": "is for the source testAi, and not for other"} {
		if _, err := in.Bind(t.Context(), "other", name, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Bind of other to %s: %v, want …%s…", name, err, want)
		}
	}
	items, err := in.Dir.List(in.Embedded)
	if err != nil || len(items) != 1 || items[0].Owner != "x" {
		t.Errorf("List = %+v, %v; want dup, and x as the owner of its source", items, err)
	}
}

// TestSourcesV1 reads locks of format 1 in which two plugins are for one source:
// the name that the binary carries has it, else nobody, and that is told.
func TestSourcesV1(t *testing.T) {
	tests := []struct {
		name     string
		plugins  []string
		carried  bool
		owner    string
		warnings int
	}{
		{"one", []string{"dup"}, false, "dup", 0},
		{"its own name", []string{"x"}, true, "x", 0},
		{"one beside the binary's", []string{"dup"}, true, "x", 1},
		{"two beside the binary's", []string{"aaa", "x"}, true, "x", 1},
		{"two", []string{"dup", "x"}, false, "", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := newInstaller(t)
			for _, name := range tt.plugins {
				install(t, in, theirs(t, name, "1.0.0"), InstallOptions{TakeSource: true})
			}
			l, err := ReadLock(in.Dir.Path)
			if err != nil {
				t.Fatal(err)
			}
			l.Format, l.Sources = 1, nil
			for _, e := range l.Plugins {
				e.Before = nil
			}
			b, err := l.text()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(in.Dir.Path, LockFile), b, 0o600); err != nil {
				t.Fatal(err)
			}
			if tt.carried {
				in.Embedded = [][]byte{harmless(t)}
			}
			p, err := in.Dir.Locked(in.Embedded)
			if err != nil || p.Sources["testAi"] != tt.owner || len(p.Warnings) != tt.warnings {
				t.Fatalf("Locked = %+v, %v; want %q to answer, %d warnings", p, err, tt.owner, tt.warnings)
			}
			if tt.warnings > 0 && !strings.Contains(p.Warnings[0].Error(), "choose by `parley plugin source testAi NAME") {
				t.Errorf("warning %v, want the command in it", p.Warnings[0])
			}
			// What is written next is format 2, and says the same.
			install(t, in, module(t, "else", "1.0.0", nil), InstallOptions{})
			if l, err := ReadLock(in.Dir.Path); err != nil || l.Format != 2 || l.Sources["testAi"] != tt.owner {
				t.Errorf("the next lock is %+v, %v", l, err)
			}
		})
	}
}

// TestSourceGhost binds a source to a plugin that is not there.
func TestSourceGhost(t *testing.T) {
	d := Dir{Path: t.TempDir()}
	if err := os.WriteFile(filepath.Join(d.Path, LockFile), []byte(`{"format":2,"sources":{"testAi":"ghost"},"plugins":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := d.Locked([][]byte{harmless(t)})
	if err != nil || p.Sources["testAi"] != "ghost" || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].Error(), "binds the source testAi to plugin ghost, which is neither pinned nor carried") {
		t.Errorf("Locked = %+v, %v; want no other to step in, and a warning", p, err)
	}
}

// TestUnlockedContested puts plugins of several names for one source into a
// directory without a lock.
func TestUnlockedContested(t *testing.T) {
	tests := []struct {
		name     string
		files    []string // names of plugins
		carried  bool
		runs     string
		refused  string
		owner    string
		sentence string
	}{
		{"two names", []string{"dup", "x"}, false, "", "dup x", "", "so that neither runs"},
		{"one beside the binary's", []string{"dup"}, true, "x", "dup", "x", "the binary carries plugin x for the source testAi"},
		{"the binary's own name", []string{"x"}, true, "x", "", "x", ""},
		{"both beside the binary's", []string{"dup", "x"}, true, "x", "dup", "x", "only a plugin of that name replaces it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := Dir{Path: t.TempDir()}
			for _, name := range tt.files {
				if err := os.WriteFile(d.file(name, "2.0.0"), theirs(t, name, "2.0.0"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var carried [][]byte
			if tt.carried {
				carried = [][]byte{harmless(t)}
			}
			p, err := d.Unlocked(carried)
			if err != nil {
				t.Fatal(err)
			}
			var runs, refused []string
			for _, w := range p.Wanted {
				runs = append(runs, w.Name)
			}
			for _, r := range p.Refused {
				refused = append(refused, r.Name)
				if !errors.Is(r.Err, plugin.ErrContested) || !strings.Contains(r.Err.Error(), tt.sentence) {
					t.Errorf("refused since %v, want …%s…", r.Err, tt.sentence)
				}
			}
			if strings.Join(runs, " ") != tt.runs || strings.Join(refused, " ") != tt.refused || p.Sources["testAi"] != tt.owner {
				t.Errorf("runs %q, refused %q, %q answers; want %q, %q, %q", runs, refused, p.Sources["testAi"], tt.runs, tt.refused, tt.owner)
			}
		})
	}
}
