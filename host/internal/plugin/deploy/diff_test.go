package deploy

import (
	"slices"
	"strings"
	"testing"
)

// changes are those of d as text, without the last: the size.
func changes(t *testing.T, d *Diff) (all []string) {
	t.Helper()
	for _, c := range d.Changes {
		all = append(all, strings.Join([]string{c.Group, c.Path, c.Old, c.New}, "|"))
	}
	if len(all) == 0 || !strings.HasPrefix(all[len(all)-1], "module|size|") {
		t.Fatalf("Compare:\n%s\nwant the size last", strings.Join(all, "\n"))
	}
	return all[:len(all)-1]
}

func TestCompare(t *testing.T) {
	before := module(t, "x", "1.0.0", map[string]any{
		"settings": map[string]any{"apiKey": map[string]any{"required": true}, "orgId": map[string]any{}}, "license": "MIT",
	})
	after := module(t, "x", "1.1.0", map[string]any{
		"grants":   map[string]any{"http": []string{"https://evil.example"}, "secrets": []string{"apiKey"}},
		"settings": map[string]any{"apiKey": map[string]any{"required": false}, "baseUrl": map[string]any{"required": true}},
		"license":  "MIT", "limits": map[string]any{"memoryMiB": 32},
	})
	d, err := Compare(before, after)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"grants|http.https://api.example.com|yes|",
		"grants|http.https://evil.example||yes",
		"settings|apiKey.required|true|false",
		"settings|baseUrl.required||true",
		"settings|orgId|{}|",
		"limits|memoryMiB||32",
	}
	if got := changes(t, d); !slices.Equal(got, want) {
		t.Errorf("Compare:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Equal(d.Widened.HTTP, []string{"https://evil.example"}) || len(d.Widened.Secrets) != 0 {
		t.Errorf("Widened = %+v", d.Widened)
	}
	if d.Old.Version != "1.0.0" || d.New.SHA256 != hash(after) {
		t.Errorf("sides %+v, %+v", d.Old, d.New)
	}

	same, err := Compare(before, before)
	if err != nil || len(same.Changes) != 0 || !same.Widened.IsZero() {
		t.Errorf("Compare of the same = %+v, %v", same, err)
	}
	if _, err := Compare([]byte("junk"), after); err == nil || !strings.Contains(err.Error(), "read old plugin") {
		t.Errorf("Compare with junk: %v", err)
	}
}

func TestCompareCollectors(t *testing.T) {
	metric := func(path, kind string) map[string]any {
		return map[string]any{"path": path, "kind": kind, "meaning": "x", "events": []string{"chat"}, "aggregation": "sum", "noData": "omit", "range": []int{0, 9}}
	}
	collector := func(version string, events []string, metrics ...any) []byte {
		return module(t, "c", version, map[string]any{
			"kind": "collector", "source": "", "settings": nil, "grants": nil, "events": events, "metrics": metrics,
		})
	}
	d, err := Compare(
		collector("1.0.0", []string{"chat", "search"}, metric("chats.total", "int"), metric("chats.slow", "int")),
		collector("1.1.0", []string{"chat", "launch"}, metric("chats.slow", "number"), metric("chats.new", "int")))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"events|launch||yes",
		"events|search|yes|",
		"metrics|chats.new||yes",
		"metrics|chats.new.aggregation||\"sum\"",
		"metrics|chats.new.events.chat||yes",
		"metrics|chats.new.kind||\"int\"",
		"metrics|chats.new.meaning||\"x\"",
		"metrics|chats.new.noData||\"omit\"",
		"metrics|chats.new.range.0||0",
		"metrics|chats.new.range.1||9",
		"metrics|chats.slow.kind|\"int\"|\"number\"",
		"metrics|chats.total|yes|",
	}
	got := slices.DeleteFunc(changes(t, d), func(s string) bool { return strings.HasPrefix(s, "metrics|chats.total.") })
	if !slices.Equal(got, want) {
		t.Errorf("Compare:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestFind resolves what diff may be given.
func TestFind(t *testing.T) {
	in := newInstaller(t)
	in.Embedded = [][]byte{module(t, "carried", "1.0.0", nil)}
	one, two := module(t, "x", "1.0.0", nil), module(t, "x", "1.1.0", nil)
	install(t, in, one, InstallOptions{})
	install(t, in, two, InstallOptions{Beside: true})
	for ref, want := range map[string][]byte{"x": one, "x@1.1.0": two, "carried": in.Embedded[0], in.Dir.file("x", "1.1.0"): two} {
		got, err := in.Find(t.Context(), ref)
		if err != nil || hash(got) != hash(want) {
			t.Errorf("Find(%q): %v, want sha256 %s", ref, err, hash(want))
		}
	}
	for _, ref := range []string{"absent", "x@9.9.9", "x@~9", "ftp://x.example/y"} {
		if _, err := in.Find(t.Context(), ref); err == nil {
			t.Errorf("Find(%q): no error", ref)
		}
	}
}
