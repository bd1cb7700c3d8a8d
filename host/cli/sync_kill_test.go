package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/cli/internal/documents"
)

// TestKillImport kills an import of a folder by SIGKILL at random moments, edits the folder each time, and
// wants the next import that is let alone to leave what an import into an empty index does, and the one
// after it to send nothing.
func TestKillImport(t *testing.T) {
	t.Parallel()
	rounds := killRounds(t, 3, 60)
	k := &killed{t: t, dir: t.TempDir()}
	c := k.start()
	defer c.kill()
	f := folderOf(t, 60)
	rng := rand.New(rand.NewPCG(7, 8))
	cut := 0
	for round := range rounds {
		f.edit(round, rng)
		program := exec.Command(os.Args[0], append([]string{"documents", "import"}, f.args(c.url, "cut")...)...)
		program.Env = append(os.Environ(), reexec+"=parley")
		progress, err := program.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		lines, last := bufio.NewScanner(progress), rng.IntN(16)
		for n := 0; n <= last && lines.Scan(); n++ { // each tells of a tenth that is read or indexed
		}
		_ = program.Process.Kill()
		if program.Wait() != nil {
			cut++
		}
		f.edit(100+round, rng)
		f.run(c.url, "cut")
		if again := f.run(c.url, "cut"); again.Sent+again.Deleted+again.Changed+again.New+again.Gone > 0 || again.Same != again.Files {
			t.Errorf("round %d, an import after a whole one: %+v", round, again)
		}
		whole := fmt.Sprintf("whole%d", round)
		f.run(c.url, whole)
		if got, want := storedOf(t, c, "cut"), storedOf(t, c, whole); got != want {
			t.Errorf("round %d: what the index has after a kill is not what an import makes:\n%.2000s\nwant\n%.2000s", round, got, want)
		}
	}
	if cut == 0 {
		t.Errorf("none of %d imports was killed before it ended", rounds)
	}
	t.Logf("%d of %d imports were killed before their end", cut, rounds)
}

// TestWatchFolder lets an import go on: it sends what is edited, deletes what is gone, keeps all while the
// folder is empty or missing, says so once, and ends with the status 0 when it is interrupted.
func TestWatchFolder(t *testing.T) {
	t.Parallel()
	k := &killed{t: t, dir: t.TempDir()}
	c := k.start()
	defer c.kill()
	f := folderOf(t, 5)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, told := io.Pipe()
	errs, complained := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"documents", "import", "--watch"}, f.args(c.url, "notes")...), told, complained)
		told.Close()
		complained.Close()
	}()
	reports, complaints := json.NewDecoder(out), make(chan string, 100)
	go func() {
		for lines := bufio.NewScanner(errs); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "parley: ") { // and not of the progress
				complaints <- lines.Text()
			}
		}
	}()
	next := func(step string, changed, added, gone, same int) {
		t.Helper()
		var r documents.SyncReport
		if err := reports.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if r.Changed != changed || r.New != added || r.Gone != gone || r.Same != same {
			t.Errorf("%s: %d changed, %d new, %d gone, %d the same; want %d, %d, %d, %d", step, r.Changed, r.New, r.Gone, r.Same, changed, added, gone, same)
		}
	}
	next("first", 0, 5, 0, 0)
	f.write(1, 2)
	next("an edit", 1, 0, 0, 4)
	if err := os.Remove(f.name(2)); err != nil {
		t.Fatal(err)
	}
	next("a deletion", 0, 0, 1, 4)
	before := storedOf(t, c, "notes")
	away := f.dir + "-away"
	if err := os.Rename(f.dir, away); err != nil {
		t.Fatal(err)
	}
	if said := <-complaints; !strings.Contains(said, "no such file") {
		t.Errorf("a missing folder: %q", said)
	}
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if said := <-complaints; !strings.Contains(said, "nothing is deleted") {
		t.Errorf("an empty folder: %q", said)
	}
	if after := storedOf(t, c, "notes"); after != before {
		t.Errorf("an empty folder left %q of %q", after, before)
	}
	if err := errors.Join(os.Remove(f.dir), os.Rename(away, f.dir)); err != nil {
		t.Fatal(err)
	}
	f.write(3, 3)
	next("the folder again, with an edit", 1, 0, 0, 3)
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("interrupted: exit status %d", code)
	}
	if len(complaints) > 1 { // one more where it looked between the two steps of a rename
		t.Errorf("%d more complaints: %q", len(complaints), <-complaints)
	}
}

// A notesFolder is a folder to be imported, and changed meanwhile.
type notesFolder struct {
	t     *testing.T
	dir   string
	files int
}

// folderOf makes a folder of n files.
func folderOf(t *testing.T, n int) *notesFolder {
	f := &notesFolder{t: t, dir: filepath.Join(t.TempDir(), "notes"), files: n}
	for i := range n {
		f.write(i, 0)
	}
	return f
}

func (f *notesFolder) write(i, version int) {
	f.t.Helper()
	para := strings.Repeat("Words of a paragraph about a matter. ", 12)
	text := fmt.Sprintf("# Note %d\n%s\n## First\n%s\n## Version %d\n%s\n", i, para, para, version, para)
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.name(i), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *notesFolder) name(i int) string { return filepath.Join(f.dir, fmt.Sprintf("note-%d.md", i)) }

// edit writes some files anew, deletes one and renames another.
func (f *notesFolder) edit(version int, rng *rand.Rand) {
	for range f.files / 4 {
		f.write(rng.IntN(f.files), version)
	}
	_ = os.Remove(f.name(rng.IntN(f.files)))
	_ = os.Rename(f.name(rng.IntN(f.files)), f.name(f.files+version))
}

// args are those of an import, in many small requests.
func (f *notesFolder) args(url, index string) []string {
	return []string{f.dir, "--index", index, "--url", url, "--request-size", "2KiB", "--json"}
}

// run imports the folder and returns what was done.
func (f *notesFolder) run(url, index string, more ...string) (r documents.SyncReport) {
	f.t.Helper()
	var out, errs bytes.Buffer
	args := append(append([]string{"documents", "import"}, f.args(url, index)...), more...)
	if code := run(context.Background(), args, &out, &errs); code != 0 {
		f.t.Fatalf("import: exit status %d: %s", code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		f.t.Fatalf("%v in %s", err, out.String())
	}
	return r
}

// storedOf is what an index has: the ids and hashes, in the order of the ids.
func storedOf(t *testing.T, c *life, index string) string {
	t.Helper()
	_, answer := c.call("POST", "/indexes/"+index+"/documents/fetch", `{"fields":["id","path","contentHash"],"limit":10000}`)
	var page struct {
		Results []struct{ ID, Path, ContentHash string }
	}
	if err := json.Unmarshal([]byte(answer), &page); err != nil {
		t.Fatalf("documents of %s: %v in %.300s", index, err, answer)
	}
	lines := make([]string, 0, len(page.Results))
	for _, d := range page.Results {
		lines = append(lines, d.ID+" "+d.Path+" "+d.ContentHash)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
