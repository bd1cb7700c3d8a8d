package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/parley-search/parley/host/cli/internal/documents"
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

// TestFolderDay does many things at random to a folder, and wants the index to be what the folder is after each
// import.
func TestFolderDay(t *testing.T) {
	t.Parallel()
	steps, each := 60, 6
	if os.Getenv("LONG") != "" {
		steps, each = 500, 10
	}
	k := &killed{t: t, dir: t.TempDir()}
	c := k.start()
	defer c.kill()
	dir := filepath.Join(t.TempDir(), "day")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(45, uint64(steps)))
	words := 0
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	files := func() (list []string) {
		must(filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				list = append(list, name)
			}
			return err
		}))
		return list
	}
	newName := func() string {
		folder := filepath.Join(dir, []string{"", "a", "a/b", "C"}[r.IntN(4)])
		must(os.MkdirAll(folder, 0o700))
		words++
		return filepath.Join(folder, fmt.Sprintf("%c%d%s", "nN"[r.IntN(2)], words, []string{".md", ".txt", ".html"}[r.IntN(3)]))
	}
	text := func() string {
		var b strings.Builder
		for range 1 + r.IntN(300) {
			words++
			fmt.Fprintf(&b, "word%d ", words)
			if r.IntN(40) == 0 {
				fmt.Fprintf(&b, "\n\n## Head%d\n\n", words)
			}
		}
		return b.String()
	}
	did := []string{}
	act := func() {
		list := files()
		kind := r.IntN(10)
		if len(list) < 4 {
			kind = 0
		}
		name := dir
		if len(list) > 0 {
			name = list[r.IntN(len(list))]
		}
		to := newName()
		did = append(did, fmt.Sprintf("%d %s %s", kind, name, to))
		switch kind {
		case 0, 1: // a new file
			must(os.WriteFile(to, []byte(text()), 0o600))
		case 2: // an edit
			must(os.WriteFile(name, []byte(text()), 0o600))
		case 3: // more at the end
			old, err := os.ReadFile(name)
			must(err)
			must(os.WriteFile(name, append(old, text()...), 0o600))
		case 4: // less
			st, err := os.Stat(name)
			must(err)
			must(os.Truncate(name, st.Size()*int64(r.IntN(2))/2))
		case 5: // moved
			must(os.Rename(name, filepath.Join(filepath.Dir(to), filepath.Base(name)+filepath.Ext(to))))
		case 6: // in another case
			must(os.Rename(name, filepath.Join(filepath.Dir(name), strings.ToUpper(filepath.Base(name[:len(name)-len(filepath.Ext(name))]))+filepath.Ext(name))))
		case 7:
			must(os.Remove(name))
		case 8: // a link, and a copy
			_ = os.Symlink(name, to)
		case 9: // touched, and with other rights
			must(os.Chmod(name, 0o640))
			must(os.Chtimes(name, time.Time{}, time.Unix(int64(1e9+words), 0)))
		}
	}
	wordsOf := func(text string) (list []string) {
		for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if strings.HasPrefix(w, "word") {
				list = append(list, w)
			}
		}
		return list
	}
	var before, want map[string][]string
	for n := 0; n < steps; n += each {
		for range each {
			act()
		}
		before, want = want, map[string][]string{}
		must(filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(dir, name)
			must(err)
			list := before[filepath.ToSlash(rel)] // of a link to what is gone, which its disk may bring back
			if data, err := os.ReadFile(name); err == nil {
				list = wordsOf(string(data))
			}
			if len(list) > 0 {
				want[filepath.ToSlash(rel)] = list
			}
			return nil
		}))
		var out, errs bytes.Buffer
		if code := run(context.Background(), []string{"documents", "import", dir, "--url", c.url, "--force"}, &out, &errs); code != 0 {
			t.Fatalf("after %d: exit status %d: %s", n, code, errs.String())
		}
		_, answer := c.call("GET", "/indexes/day/documents?limit=100000&fields=path,n,text", "")
		var page struct {
			Results []struct {
				Path, Text string
				N          int
			}
		}
		must(json.Unmarshal([]byte(answer), &page))
		got := map[string][]string{}
		slices.SortFunc(page.Results, func(a, b struct {
			Path, Text string
			N          int
		},
		) int {
			return a.N - b.N
		})
		for _, d := range page.Results {
			got[d.Path] = append(got[d.Path], wordsOf(d.Text)...)
		}
		for path := range want {
			if !slices.Equal(got[path], want[path]) {
				t.Fatalf("after %d: %s has %d words %.200q, want %d %.200q; it did\n%s", n, path, len(got[path]), got[path], len(want[path]), want[path], strings.Join(did, "\n"))
			}
		}
		for path := range got {
			if want[path] == nil {
				t.Fatalf("after %d: the index has %s, and the folder does not; it did\n%s", n, path, strings.Join(did, "\n"))
			}
		}
	}
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
