package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/internal/setup/backup"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// TestKillOperations ends the program, by SIGKILL or SIGTERM, at random moments
// of a dump, a snapshot, an import of each, an export and a change of the master
// key. Whatever was named an archive is whole, an import is all there or not
// there at all, an export arrives whole, the data opens with exactly one of both
// keys, and no document is lost.
func TestKillOperations(t *testing.T) {
	if apart.Run(t) {
		return
	}
	rounds := killRounds(t, 2, 6)
	dir := t.TempDir()
	o := &operations{
		t: t, rng: rand.New(rand.NewPCG(9, 10)), data: filepath.Join(dir, "data"), out: filepath.Join(dir, "out"), key: "the first master key of these",
		took: map[string]time.Duration{}, outcomes: map[string]int{},
	}
	t.Setenv("PARLEY_DUMP_DIR", o.out)
	t.Setenv("PARLEY_SNAPSHOT_DIR", o.out)
	o.prepare()
	kinds := []struct {
		name  string
		round func()
	}{
		{"dump", func() { o.archive("dump") }},
		{"snapshot", func() { o.archive("snapshot") }},
		{"import of a dump", func() { o.restore("dump") }},
		{"import of a snapshot", func() { o.restore("snapshot") }},
		{"export", o.export},
		{"change of the master key", o.rotate},
	}
	for round := range rounds {
		k := kinds[round%len(kinds)]
		o.name, o.signal = k.name, syscall.SIGKILL
		if round/len(kinds)%3 == 2 {
			o.signal = syscall.SIGTERM
		}
		k.round()
	}
	var table []string
	for what, n := range o.outcomes {
		table = append(table, fmt.Sprintf("%4d  %s", n, what))
	}
	slices.SortFunc(table, func(a, b string) int { return strings.Compare(a[6:], b[6:]) })
	t.Logf("%d rounds:\n%s", rounds, strings.Join(table, "\n"))
}

const operationDocuments = 2000

type operations struct {
	t         *testing.T
	rng       *rand.Rand
	data, out string
	key       string // that is in force
	keys      int    // that there were
	name      string // of what is killed
	signal    syscall.Signal
	took      map[string]time.Duration // by name, without a kill
	outcomes  map[string]int
}

func (o *operations) ended(how string) {
	o.outcomes[fmt.Sprintf("%-25s %-8s %s", o.name, map[syscall.Signal]string{syscall.SIGKILL: "SIGKILL", syscall.SIGTERM: "SIGTERM"}[o.signal], how)]++
}

// host starts one on a directory.
func (o *operations) host(data string) *life {
	o.t.Helper()
	o.t.Setenv("PARLEY_MASTER_KEY", o.key)
	c := live(o.t, data, o.t.TempDir())
	c.http.Transport = withKey{c.http.Transport, o.key}
	return c
}

type withKey struct {
	http.RoundTripper
	key string
}

func (w withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+w.key)
	return w.RoundTripper.RoundTrip(r)
}

func (o *operations) must(c *life, method, path, body string) string {
	o.t.Helper()
	status, answer := c.call(method, path, body)
	if status/100 != 2 {
		o.t.Fatalf("%s: %s %s: %d %s", o.name, method, path, status, answer)
	}
	return answer
}

// settle waits until no task is left.
func (o *operations) settle(c *life) {
	o.t.Helper()
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if strings.Contains(o.must(c, "GET", "/tasks?statuses=enqueued,processing", ""), `"total":0`) {
			break
		}
		if time.Now().After(until) {
			o.t.Fatalf("%s: tasks are left", o.name)
		}
	}
	if failed := o.must(c, "GET", "/tasks?statuses=failed", ""); !strings.Contains(failed, `"total":0`) {
		o.t.Fatalf("%s: %s", o.name, failed)
	}
}

// check makes sure that everything is there.
func (o *operations) check(c *life) {
	o.t.Helper()
	if list := o.must(c, "GET", "/indexes/notes/documents?limit=1", ""); !strings.Contains(list, fmt.Sprintf(`"total":%d`, operationDocuments)) {
		o.t.Errorf("%s: documents: %s", o.name, list)
	}
	if n := o.must(c, "GET", "/network", ""); !strings.Contains(n, `"searchApiKey":"sk-XXXXX..."`) {
		o.t.Errorf("%s: the remote's key: %s", o.name, n)
	}
}

func (o *operations) prepare() {
	c := o.host(o.data)
	defer c.kill()
	docs := make([]string, operationDocuments)
	for i := range docs {
		docs[i] = fmt.Sprintf(`{"id":%d,"text":"note number%d says %x"}`, i, i, o.rng.Uint64())
	}
	o.must(c, "POST", "/indexes/notes/documents", "["+strings.Join(docs, ",")+"]")
	o.must(c, "PATCH", "/experimental-features", `{"network":true}`)
	o.must(c, "PATCH", "/network", `{"remotes":{"there":{"url":"http://there.example","searchApiKey":"sk-the-key-of-a-remote"}}}`)
	for _, kind := range []string{"dump", "snapshot"} {
		o.settle(c)
		began := time.Now()
		o.must(c, "POST", "/"+kind+"s", "")
		o.settle(c)
		o.took[kind] = time.Since(began)
	}
	o.check(c)
}

// moment is a random time within what takes about as long as name.
func (o *operations) moment(name string) time.Duration {
	return time.Duration(o.rng.Int64N(int64(max(o.took[name], 10*time.Millisecond)) * 5 / 4))
}

// end ends a host.
func (o *operations) end(c *life) {
	if o.signal == syscall.SIGTERM {
		_ = c.cmd.Process.Signal(o.signal)
		if _, err := c.cmd.Process.Wait(); err != nil {
			o.t.Errorf("%s: wait: %v", o.name, err)
		}
	}
	c.kill()
}

// archives are those that are there; each must be whole.
func (o *operations) archives(kind string) (files []string) {
	o.t.Helper()
	files, err := filepath.Glob(filepath.Join(o.out, "*."+kind))
	if err != nil {
		o.t.Fatal(err)
	}
	for _, f := range files {
		if _, err := backup.Inspect(context.Background(), f); err != nil {
			o.t.Errorf("%s: %v", o.name, err)
		}
	}
	return files
}

func (o *operations) archive(kind string) {
	before := len(o.archives(kind))
	c := o.host(o.data)
	o.must(c, "POST", "/"+kind+"s", "")
	time.Sleep(o.moment(kind))
	o.end(c)
	after := len(o.archives(kind))
	c = o.host(o.data)
	defer c.kill()
	o.settle(c)
	o.check(c)
	if now := len(o.archives(kind)); kind == "dump" && now != before+1 {
		o.t.Errorf("%s: %d dumps, want the %d of before and one more", o.name, now, before)
	}
	if left, _ := filepath.Glob(filepath.Join(o.data, "snapshot-*")); len(left) > 0 {
		o.t.Errorf("%s: left behind: %v", o.name, left)
	}
	switch {
	case kind == "dump" && after > before:
		o.ended("made before the end")
	default:
		o.ended("there, whole, after the next start")
	}
}

// command runs the program for a while; it reports whether it came to its end.
func (o *operations) command(name string, args ...string) (through bool) {
	o.t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), reexec+"=parley")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	began := time.Now()
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	if o.took[name] > 0 { // the first one is let through
		time.Sleep(o.moment(name))
		_ = cmd.Process.Signal(o.signal)
	}
	err := cmd.Wait()
	exit, _ := errors.AsType[*exec.ExitError](err)
	if exit != nil && exit.Exited() && o.signal == syscall.SIGKILL {
		o.t.Fatalf("%s: %v: %s", o.name, args, said.String())
	}
	if o.took[name] == 0 {
		o.took[name] = time.Since(began)
	}
	return err == nil && exit == nil
}

func (o *operations) restore(kind string) {
	files := o.archives(kind)
	o.t.Setenv("PARLEY_MASTER_KEY", o.key)
	args := func(to string) []string {
		return []string{kind, "restore", files[0], "--db-path", to, "--plugin-dir", filepath.Join(to, "plugins"), "--import-dump-master-key", "the first master key of these"}
	}
	if o.took[o.name] == 0 {
		o.command(o.name, args(o.t.TempDir())...)
	}
	to := filepath.Join(o.t.TempDir(), "data")
	o.command(o.name, args(to)...)
	how := "all there at the first try"
	if entries, err := os.ReadDir(filepath.Join(to, "badger")); err != nil || len(entries) == 0 {
		how = "nothing there, and done again"
		took := o.took[o.name]
		o.took[o.name] = 0
		if !o.command(o.name, args(to)...) {
			o.t.Fatalf("%s: not done again", o.name)
		}
		o.took[o.name] = took
	}
	o.t.Setenv("PARLEY_IMPORT_DUMP_MASTER_KEY", "the first master key of these")
	c := o.host(to)
	defer c.kill()
	o.settle(c)
	o.check(c)
	o.ended(how)
}

func (o *operations) export() {
	to := o.host(filepath.Join(o.t.TempDir(), "other"))
	defer to.kill()
	body := fmt.Sprintf(`{"url":%q,"apiKey":%q,"payloadSize":"4 KiB"}`, to.url, o.key)
	c := o.host(o.data)
	began := time.Now()
	if o.took[o.name] == 0 {
		o.must(c, "POST", "/export", body)
		o.settle(c)
		o.took[o.name] = time.Since(began)
		o.settle(to)
		o.must(to, "DELETE", "/indexes/notes", "")
		o.settle(to)
	}
	o.must(c, "POST", "/export", body)
	time.Sleep(o.moment(o.name))
	o.end(c)
	o.settle(to)
	_, before := to.call("GET", "/indexes/notes/documents?limit=1", "")
	c = o.host(o.data)
	defer c.kill()
	o.settle(c)
	o.check(c)
	o.settle(to)
	if list := o.must(to, "GET", "/indexes/notes/documents?limit=1", ""); !strings.Contains(list, fmt.Sprintf(`"total":%d`, operationDocuments)) {
		o.t.Errorf("%s: the other side has %s", o.name, list)
	}
	switch {
	case strings.Contains(before, fmt.Sprintf(`"total":%d`, operationDocuments)):
		o.ended("all there before the end")
	case strings.Contains(before, `"total"`):
		o.ended("went on from the middle")
	default:
		o.ended("went on from the beginning")
	}
}

func (o *operations) rotate() {
	o.keys++
	next := fmt.Sprintf("the master key number %d of these", o.keys)
	file := filepath.Join(o.t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(next+"\n"), 0o600); err != nil {
		o.t.Fatal(err)
	}
	o.t.Setenv("PARLEY_MASTER_KEY", o.key)
	first := o.took[o.name] == 0
	o.command(o.name, "key", "rotate-master", "--db-path", o.data, "--new-key-file", file)
	opens := func(key string) bool {
		c, _, err := config.Load(config.Sources{Flags: map[string]string{"db-path": o.data, "master-key": key, "http-addr": "127.0.0.1:0", "plugin-dir": o.t.TempDir()}})
		if err != nil {
			o.t.Fatal(err)
		}
		h, err := host.Open(o.t.Context(), c, host.Options{})
		if err == nil {
			err = h.Close()
		} else if strings.Contains(err.Error(), "is sealed under the master key named") {
			return false
		}
		if err != nil {
			o.t.Fatalf("%s: %v", o.name, err)
		}
		return true
	}
	byOld, byNew := opens(o.key), opens(next)
	if byOld == byNew || first && byOld {
		o.t.Fatalf("%s: opens with the old key: %v, with the new one: %v; want one of both", o.name, byOld, byNew)
	}
	if byNew {
		o.key = next
		o.ended("the new key's")
	} else {
		o.ended("the old key's")
	}
	c := o.host(o.data)
	defer c.kill()
	o.check(c)
}
