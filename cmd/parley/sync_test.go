package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/cmd/parley/internal/documents"
)

// TestImportFiles imports a folder, again, and after edits of each kind, and wants what is sent and
// deleted to be what changed, and the index to hold what the folder does.
func TestImportFiles(t *testing.T) {
	t.Parallel()
	k := &killed{t: t, dir: t.TempDir()}
	c := k.start()
	defer c.kill()
	dir := filepath.Join(t.TempDir(), "notes")
	para := strings.Repeat("Words of a paragraph. ", 20)
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(name string) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	sync := func(step string, want documents.SyncReport, more ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		args := append([]string{"documents", "import", dir, "--index", "notes", "--url", c.url, "--json"}, more...)
		if code := run(context.Background(), args, &out, &errs); code != 0 {
			t.Fatalf("%s: exit status %d: %s", step, code, errs.String())
		}
		steps, at := []string{"reading", "indexing", "deleting"}, 0
		for line := range strings.Lines(errs.String()) {
			shown, percent, _ := strings.Cut(line, " ")
			at += max(slices.Index(steps[at:], shown), 0)
			if shown != steps[at] || !strings.HasSuffix(percent, "%\n") {
				t.Errorf("%s: it showed %q, want reading, indexing, deleting, in this order", step, errs.String())
				break
			}
		}
		var got documents.SyncReport
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v in %s", step, err, out.String())
		}
		got.Bytes, got.Skipped = 0, nil
		gotJSON, _ := json.Marshal(got)
		wantJSON, _ := json.Marshal(want)
		if string(gotJSON) != string(wantJSON) {
			t.Errorf("%s: %s, want %s", step, gotJSON, wantJSON)
		}
	}
	stored := func(want int) {
		t.Helper()
		_, answer := c.call("GET", "/indexes/notes/stats", "")
		var st struct{ NumberOfDocuments int }
		if err := json.Unmarshal([]byte(answer), &st); err != nil || st.NumberOfDocuments != want {
			t.Errorf("%d documents, want %d: %s", st.NumberOfDocuments, want, answer)
		}
	}
	write("tea.md", "# Tea\n"+para+"\n## Green\n"+para+"\n## Black\n"+para)
	write("sub/coffee.html", "<main><h1>Coffee</h1><p>Grind it.</p></main>")
	write("milk.txt", "Milk is white.")
	write("photo.png", "no text")

	sync("a dry run", documents.SyncReport{Files: 3, New: 3, Passages: 5, Sent: 5}, "--dry-run")
	sync("first", documents.SyncReport{Files: 3, New: 3, Passages: 5, Sent: 5})
	stored(5)
	sync("again", documents.SyncReport{Files: 3, Same: 3, Passages: 5})
	write("tea.md", "# Tea\n"+para+"\n## Green\n"+para+"\n## Black\nOther words. "+para)
	sync("an edit", documents.SyncReport{Files: 3, Changed: 1, Same: 2, Passages: 5, Sent: 1})
	write("tea.md", "# Tea\n"+para+"\n## Black\nOther words. "+para)
	sync("a section less: the next one moves up", documents.SyncReport{Files: 3, Changed: 1, Same: 2, Passages: 4, Sent: 1, Deleted: 1})
	stored(4)
	remove("milk.txt")
	write("cream.txt", "Milk is white.")
	sync("a rename", documents.SyncReport{Files: 3, New: 1, Gone: 1, Moved: 1, Same: 2, Passages: 4, Sent: 1, Deleted: 1})
	sync("kept without prune", documents.SyncReport{Files: 2, Same: 2, Passages: 3}, "--exclude", "cream.txt", "--prune=false")
	stored(4)

	_, answer := c.call("POST", "/indexes/notes/search", `{"q":"grind","filter":"kind = html"}`)
	if !strings.Contains(answer, `"path":"sub/coffee.html"`) || !strings.Contains(answer, `"title":"Coffee"`) {
		t.Errorf("search: %s", answer)
	}
	for _, tt := range []struct{ args, want string }{
		{"--include none.md", "nothing is deleted"},
		{"--split lines", "want passages or whole"},
		{"--include [a", "syntax error in pattern"},
	} {
		var out, errs bytes.Buffer
		args := append([]string{"documents", "import", dir, "--index", "notes", "--url", c.url}, strings.Fields(tt.args)...)
		if code := run(context.Background(), args, &out, &errs); code == 0 || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%s: exit status %d, %s; want %q", tt.args, code, errs.String(), tt.want)
		}
	}
	stored(4)
	sync("over half gone", documents.SyncReport{Files: 1, Kept: 2, Same: 1, Passages: 1}, "--include", "cream.txt")
	stored(4)
	for _, name := range []string{"tea.md", "cream.txt"} {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, "new-"+name)); err != nil {
			t.Fatal(err)
		}
	}
	write("cocoa.md", "# Cocoa\nNew.")
	sync("most were renamed", documents.SyncReport{Files: 4, New: 3, Gone: 2, Moved: 2, Same: 1, Passages: 5, Sent: 4, Deleted: 3})
	stored(5)
	write("cocoa.md", "\n")
	sync("a file was emptied", documents.SyncReport{Files: 3, Changed: 1, Same: 3, Passages: 4, Deleted: 1})
	stored(4)
	for _, name := range []string{"tea.md", "cream.txt"} {
		if err := os.Rename(filepath.Join(dir, "new-"+name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	remove("cocoa.md")
	sync("renamed back", documents.SyncReport{Files: 3, New: 2, Gone: 2, Moved: 2, Same: 1, Passages: 4, Sent: 3, Deleted: 3})
	sync("forced", documents.SyncReport{Files: 1, Gone: 2, Same: 1, Passages: 1, Deleted: 3}, "--include", "cream.txt", "--force")
	stored(1)
}

// TestImportAsksSeldom wants what an index of many documents has to be asked for in few requests, since each
// costs the service a look through all of them.
func TestImportAsksSeldom(t *testing.T) {
	const stored = 30_000
	asked := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/tasks":
			fmt.Fprint(w, `{"results":[]}`)
		case "/indexes/notes":
			fmt.Fprint(w, `{"primaryKey":"id"}`)
		default:
			asked++
			var q struct{ Limit, Offset int }
			if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
				t.Error(err)
			}
			fmt.Fprintf(w, `{"total":%d,"results":[{"id":"x","path":"a.md","contentHash":"h"}`, stored)
			for i := q.Offset + 1; i < min(q.Offset+q.Limit, stored); i++ {
				fmt.Fprintf(w, `,{"id":"x%d","path":"a.md","contentHash":"h"}`, i)
			}
			fmt.Fprint(w, "]}")
		}
	}))
	defer service.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("Tea."), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"documents", "import", dir, "--index", "notes", "--url", service.URL, "--dry-run"}, &out, &errs)
	if code != 0 || !strings.Contains(out.String(), "1 changed") || asked > 3 {
		t.Errorf("exit status %d, %s%s, %d requests for what is there; want at most 3", code, out.String(), errs.String(), asked)
	}
}
