package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/plugin"
)

// TestWeek does to a service what operators and machines do, in a random order that SEED (default
// 1) gives, while questions are asked: ACTS of them, by default 30. Each answer is right, or refused
// for a reason that the act explains, and the service ends only by an act that ends it.
func TestWeek(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a plugin, and starts the program many times")
	}
	number := func(name string, least int) int {
		n, err := strconv.Atoi(os.Getenv(name))
		if err != nil {
			return least
		}
		return n
	}
	acts, seed := number("ACTS", 30), number("SEED", 1)
	w := newWeek(t, uint64(seed))
	w.start()
	w.prepare()
	asked := w.askAlways()
	kinds, done := w.acts(), map[string]int{}
	for n := range acts {
		a := w.nextAct(kinds)
		w.step = fmt.Sprintf("act %d of seed %d, %s", n, seed, a.name)
		t.Logf("%s %s", time.Now().Format(time.TimeOnly), w.step)
		a.do()
		done[a.name]++
		w.check()
		if t.Failed() {
			break
		}
		if n%100 == 99 {
			t.Log(w.counts())
		}
	}
	asked()
	t.Logf("%s; acts: %v", w.counts(), done)
	// How many fall in other times depends on how long the machine takes for a start.
	if quiet := w.quiet.Load(); quiet < int64(acts)*quietQuestions {
		t.Errorf("%d questions fell in quiet times: want %d for each act at least", quiet, quietQuestions)
	}
}

// quietQuestions is how many questions are asked after each act, before the next.
const quietQuestions = 20

// A week is a service with what is known of it.
type week struct {
	*life
	t        *testing.T
	rng      *rand.Rand
	step     string
	root     string // where the service's mounts are seen
	disk     string // the small disk that its data lies on, as the service sees it
	data     string // the data directory, below disk
	plugins  string // a link to the plugin directory
	holder   *exec.Cmd
	versions [2][]byte
	codes    map[int]string // the model: what each document says
	next     int
	full     bool
	cache    string // a small disk of its own for compiled plugins, as the service sees it
	backups  []keptBackup
	begin    []string // what the next start is given besides

	current       atomic.Pointer[life]
	quiet, others atomic.Int64 // questions that were answered, or refused for a reason of the time
	mu            sync.Mutex   // of codes and what follows
	times         []reasons
	refused       map[string]int // by reason
}

// reasons are those for which a question may be refused for a time; none: it must be answered.
type reasons []string

// Reasons of refusals: that no answer came, that the service begins, and that the plugin is not there.
var (
	whileDown = reasons{"no answer", "shutting_down", "index_not_ready", "chat_provider_unavailable"}
	whileGone = reasons{"chat_provider_unavailable"}
)

// during does f while questions may be refused for some reasons.
func (w *week) during(r reasons, f func()) {
	w.t.Helper()
	w.enter(r)
	f()
	w.enter(nil)
}

func (w *week) enter(r reasons) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.times = append(w.times, r)
}

// time is the number of the time that it is.
func (w *week) time() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.times) - 1
}

// judge counts a question that was asked at time began and is answered now, or refused for a
// reason, and reports whether that is one of the times since.
func (w *week) judge(began int, reason string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	allowed := slices.Concat(w.times[began:]...)
	switch {
	case reason != "" && !slices.Contains(allowed, reason):
		return false
	case len(allowed) == 0:
		w.quiet.Add(1)
		return true
	case reason != "":
		w.refused[reason]++
	}
	w.others.Add(1)
	return true
}

// counts says how many questions were asked, and what became of them.
func (w *week) counts() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	refused := 0
	for _, n := range w.refused {
		refused += n
	}
	others := int(w.others.Load())
	return fmt.Sprintf("%d questions in quiet times, all answered right; %d while an act was under way: %d answered right, refused %v", w.quiet.Load(), others, others-refused, w.refused)
}

// A keptBackup is a snapshot or a dump, with the model of when it was made.
type keptBackup struct {
	option, file string
	codes        map[int]string
}

func newWeek(t *testing.T, seed uint64) *week {
	w := &week{t: t, rng: rand.New(rand.NewPCG(seed, 40)), disk: t.TempDir(), cache: t.TempDir(), codes: map[int]string{}, times: []reasons{nil}, refused: map[string]int{}}
	const mount = `mount -t tmpfs -o size=500m,nr_inodes=20k none "$0" && mount -t tmpfs -o size=48m none "$1" && shift && exec "$@"`
	w.holder = exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", mount, w.disk, w.cache, "sh", "-c", "echo && cat")
	hold, err := w.holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	mounted, err := w.holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.holder.Start(); err != nil {
		t.Skipf("no namespace can be made here: %v", err)
	}
	t.Cleanup(func() { _ = hold.Close(); _ = w.holder.Wait() })
	if _, err := mounted.Read(make([]byte, 1)); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	w.root = filepath.Join("/proc", fmt.Sprint(w.holder.Process.Pid), "root")
	w.data = filepath.Join(w.disk, "data")
	base := t.TempDir()
	w.must(os.Mkdir(filepath.Join(base, "release-0"), 0o755))
	w.plugins = filepath.Join(base, "current")
	w.must(os.Symlink("release-0", w.plugins))
	dir := filepath.Join(root(t), "plugins", "provider", "extract")
	a, err := os.ReadFile(built(t, dir))
	w.must(err)
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	w.must(err)
	var m struct{ Version string }
	w.must(json.Unmarshal(manifest, &m))
	b, err := plugin.Pack(a, []byte(strings.Replace(string(manifest), `"`+m.Version+`"`, `"99.0.0"`, 1)))
	w.must(err)
	w.versions = [2][]byte{a, b}
	w.putPlugin(0)
	return w
}

func (w *week) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%s: %v", w.step, err)
	}
}

// at is where a path on the service's disk is seen from here.
func (w *week) at(path ...string) string {
	return filepath.Join(append([]string{w.root, w.data}, path...)...)
}

// putPlugin puts a version in place, as an installer does.
func (w *week) putPlugin(n int) {
	file := filepath.Join(w.plugins, "extract.wasm")
	w.must(os.WriteFile(file+".part", w.versions[n], 0o600))
	w.must(os.Rename(file+".part", file))
}

// program is the service, to be started.
func (w *week) program() *exec.Cmd {
	args := append([]string{
		"-t", fmt.Sprint(w.holder.Process.Pid), "-m", os.Args[0], "serve", "--http-addr", "127.0.0.1:0",
		"--experimental-logs-mode", "json", "--db-path", w.data, "--plugin-dir", w.plugins, "--plugin-lock=off", "--plugin-cache-dir", filepath.Join(w.cache, "compiled"),
		"--dump-dir", filepath.Join(w.disk, "dumps"), "--snapshot-dir", filepath.Join(w.disk, "snapshots"),
	}, w.begin...)
	program := exec.Command("nsenter", args...)
	program.Env = append(os.Environ(), reexec+"=parley")
	return program
}

func (w *week) start() {
	w.t.Helper()
	program := w.program()
	w.life = &life{t: w.t, cmd: program, http: &http.Client{Transport: &http.Transport{}, Timeout: 5 * time.Minute}}
	w.url = startServing(w.t, program, io.Discard)
	w.t.Cleanup(w.kill)
	ready := func() bool { status, _ := w.call("GET", "/ready", ""); return status == http.StatusOK }
	for tries := 1; !comesTrue(ready); tries++ { // it may have to compile, on a busy machine
		if tries == 3 {
			w.t.Fatalf("%s: the service is not ready", w.step)
		}
	}
	w.current.Store(w.life)
}

// away does f while the service does not run.
func (w *week) away(signal syscall.Signal, f func()) {
	w.t.Helper()
	w.during(whileDown, func() {
		w.t.Helper()
		w.must(w.cmd.Process.Signal(signal))
		err := waitFor(w.cmd)
		if code := w.cmd.ProcessState.ExitCode(); signal == syscall.SIGTERM && code != 0 && !w.full {
			w.t.Errorf("%s: SIGTERM ended it with %v", w.step, err)
		}
		w.life.once.Do(w.life.http.CloseIdleConnections)
		f()
		if _, err := os.Stat(w.at("ballast")); w.full && (err != nil || w.noFiles()) {
			w.empty() // a start was refused else
		}
		w.start()
	})
}

func (w *week) prepare() {
	w.t.Helper()
	for range 20 {
		w.addDocument()
	}
	if status, said := w.call("PATCH", "/chats/demo/settings", `{"source":"extract"}`); status != http.StatusOK {
		w.t.Fatalf("workspace: %d %s", status, said)
	}
}

func (w *week) addDocument() {
	w.t.Helper()
	n := w.next
	w.next++
	code := fmt.Sprintf("zq%dx%d", n, w.rng.IntN(1000))
	w.wantTask(fmt.Sprintf(`[{"id":%d,"title":"Parcel number%d","text":"The parcel number%d has the secret code %s."}]`, n, n, n, code), "POST", "/indexes/notes/documents", "succeeded")
	w.mu.Lock()
	w.codes[n] = code
	w.mu.Unlock()
}

// anyDocument is one of those that the model has.
func (w *week) anyDocument(rng *rand.Rand) (n int, code string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := slices.Sorted(maps.Keys(w.codes))
	n = all[rng.IntN(len(all))]
	return n, w.codes[n]
}

// codeOf is the code of an error, whole or within a stream.
var codeOf = regexp.MustCompile(`"code":"(\w+)"`)

// ask asks the service of a life for a document, in one of the ways that there are. A reason says
// for what it was refused, and detail what was said; "": the answer is right.
func (w *week) ask(c *life, rng *rand.Rand) (reason, detail string) {
	n, code := w.anyDocument(rng)
	var status int
	var said string
	switch rng.IntN(4) {
	case 0:
		status, said = c.call("GET", fmt.Sprintf("/indexes/notes/search?q=number%d&limit=3", n), "")
	case 1:
		status, said = c.call("GET", fmt.Sprintf("/indexes/notes/documents/%d", n), "")
	default:
		status, said = c.call("POST", "/chats/demo/chat/completions", fmt.Sprintf(`{"model":"any","stream":true,"messages":[{"role":"user","content":"What is the secret code of parcel number%d?"}]}`, n))
	}
	if status == http.StatusOK && strings.Contains(said, code) {
		return "", ""
	}
	w.mu.Lock()
	now := w.codes[n]
	w.mu.Unlock()
	if now != code {
		return "", "" // it was deleted meanwhile
	}
	reason = "a wrong answer"
	if status == 0 {
		reason = "no answer"
	} else if m := codeOf.FindStringSubmatch(said); m != nil {
		reason = m[1]
	}
	return reason, fmt.Sprintf("asked for %s of number%d, got %d %.300s", code, n, status, said)
}

// askAlways asks from two clients until the function that it returns is called.
func (w *week) askAlways() (stop func()) {
	ended := make(chan struct{})
	var all sync.WaitGroup
	for i := range 2 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			pause := time.Duration(0)
			for {
				select {
				case <-ended:
					return
				case <-time.After(pause):
				}
				began := w.time()
				reason, detail := w.ask(w.current.Load(), rng)
				if !w.judge(began, reason) {
					w.t.Errorf("%s: refused for %q: %s", w.step, reason, detail)
					return
				}
				if pause = 10 * time.Millisecond; reason != "" {
					pause = 500 * time.Millisecond // as clients do that try again
				}
			}
		})
	}
	return func() { close(ended); all.Wait() }
}

// check compares the service with the model, and waits until some questions more were asked.
func (w *week) check() {
	w.t.Helper()
	if err := w.cmd.Process.Signal(syscall.Signal(0)); err != nil {
		w.t.Fatalf("%s: the service has ended: %v", w.step, err)
	}
	_, said := w.call("GET", "/indexes/notes/documents?limit=1000", "")
	var list struct {
		Results []struct {
			ID   int
			Text string
		}
	}
	if err := json.Unmarshal([]byte(said), &list); err != nil || len(list.Results) != len(w.codes) {
		w.t.Errorf("%s: documents %.200s, want %d of them", w.step, said, len(w.codes))
	}
	for _, d := range list.Results {
		if code := w.codes[d.ID]; code == "" || !strings.Contains(d.Text, code) {
			w.t.Errorf("%s: document %d says %q, want %q", w.step, d.ID, d.Text, code)
		}
	}
	before := w.quiet.Load()
	if !comesTrue(func() bool { return w.t.Failed() || w.quiet.Load() >= before+quietQuestions }) {
		w.t.Errorf("%s: no questions are answered", w.step)
	}
}

// An act is something that an operator or a machine does.
type act struct {
	name string
	do   func()
	// weight is how often it is done, beside others; 0: once. Those that compile or start the
	// service anew take most of the time.
	weight int
	can    func() bool // nil: always
}

// nextAct draws one of those that can be done now.
func (w *week) nextAct(all []act) act {
	var can []act
	for _, a := range all {
		if a.can == nil || a.can() {
			can = append(can, slices.Repeat([]act{a}, max(a.weight, 1))...)
		}
	}
	return can[w.rng.IntN(len(can))]
}

// acts are what may happen.
func (w *week) acts() []act {
	nothing := func() {}
	hasRoom := func() bool { return !w.full }
	killed := func(f func()) func() {
		return func() { w.away(syscall.SIGKILL, f) }
	}
	return []act{
		{name: "add a document", weight: 8, do: w.addDocument, can: hasRoom},
		{name: "add a document to a full disk", weight: 8, can: func() bool { return w.full }, do: func() {
			if status, said := w.call("POST", "/indexes/notes/documents", `[{"id":1}]`); status != http.StatusUnprocessableEntity || !strings.Contains(said, "no_space_left_on_device") {
				w.t.Errorf("%s: %d %s", w.step, status, said)
			}
		}},
		{name: "delete a document", weight: 6, can: func() bool { return !w.full && len(w.codes) > 15 }, do: func() {
			n, _ := w.anyDocument(w.rng)
			w.mu.Lock()
			delete(w.codes, n)
			w.mu.Unlock()
			w.wantTask("", "DELETE", fmt.Sprintf("/indexes/notes/documents/%d", n), "succeeded")
		}},
		{name: "swap the plugin", weight: 8, do: func() { w.putPlugin(w.rng.IntN(2)); w.reload() }},
		{name: "half a plugin", weight: 4, do: func() {
			file := filepath.Join(w.plugins, "other.wasm")
			w.must(os.WriteFile(file, w.versions[0][:w.rng.IntN(len(w.versions[0]))], 0o600))
			w.reload()
			w.must(os.Remove(file))
		}},
		{name: "a link to nothing beside the plugin", weight: 4, do: func() {
			link := filepath.Join(w.plugins, "gone.wasm")
			w.must(os.Symlink("/nowhere/gone.wasm", link))
			w.reload()
			w.must(os.Remove(link))
		}},
		{name: "remove the plugin, and bring it back", weight: 4, do: func() {
			w.during(whileGone, func() {
				file := filepath.Join(w.plugins, "extract.wasm")
				w.must(os.Rename(file, file+".away"))
				w.reload()
				w.must(os.Rename(file+".away", file))
				w.reload()
			})
		}},
		{name: "make the plugin unreadable", weight: 4, do: func() {
			file := filepath.Join(w.plugins, "extract.wasm")
			w.must(os.Chmod(file, 0))
			w.must(os.Chmod(file, 0o600))
			w.reload()
		}},
		{name: "link another release", weight: 6, do: func() {
			base := filepath.Dir(w.plugins)
			name := fmt.Sprintf("release-%d", w.rng.IntN(1_000_000))
			before, err := filepath.EvalSymlinks(w.plugins)
			w.must(err)
			w.must(os.CopyFS(filepath.Join(base, name), os.DirFS(w.plugins)))
			w.must(os.Symlink(name, w.plugins+".new"))
			w.must(os.Rename(w.plugins+".new", w.plugins))
			w.reload()
			w.must(os.RemoveAll(before))
		}},
		{name: "lose the plugin folder, and bring it back", weight: 4, do: func() {
			w.during(whileGone, func() {
				w.must(os.Rename(w.plugins, w.plugins+".away"))
				w.call("POST", "/plugins/reload", "")
				w.must(os.Rename(w.plugins+".away", w.plugins))
				w.reload()
			})
		}},
		{name: "SIGHUP", weight: 6, do: func() { w.must(w.cmd.Process.Signal(syscall.SIGHUP)) }},
		{name: "stop it for a while", weight: 4, do: func() {
			w.must(w.cmd.Process.Signal(syscall.SIGSTOP))
			stopped := func() bool {
				stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.cmd.Process.Pid))
				return err == nil && strings.Contains(string(stat), ") T ")
			}
			if !comesTrue(stopped) {
				w.t.Errorf("%s: SIGSTOP does not stop it", w.step)
			}
			w.must(w.cmd.Process.Signal(syscall.SIGCONT))
		}},
		{name: "fill the disk", weight: 2, do: w.fill, can: hasRoom},
		{name: "use up the files of the disk", weight: 2, do: w.useUpFiles, can: hasRoom},
		{name: "empty the disk", weight: 8, do: w.empty, can: func() bool { return w.full }},
		{name: "make a dump", weight: 2, can: hasRoom, do: func() {
			w.wantTask("", "POST", "/dumps", "succeeded")
			w.keepBackup("--import-dump", "dumps")
		}},
		{name: "make a snapshot", weight: 2, can: hasRoom, do: func() {
			w.wantTask("", "POST", "/snapshots", "succeeded")
			w.keepBackup("--import-snapshot", "snapshots")
		}},
		{name: "kill it", weight: 3, do: killed(nothing)},
		{name: "end it", weight: 3, do: func() { w.away(syscall.SIGTERM, nothing) }},
		{name: "quit it", do: func() { w.away(syscall.SIGQUIT, nothing) }},
		{name: "restore a backup", weight: 2, do: w.restore, can: func() bool { return !w.full && len(w.backups) > 0 }},
		{name: "copy the directory", weight: 2, can: hasRoom, do: func() { w.away(syscall.SIGTERM, w.copyData) }},
		{name: "tear the UID", do: killed(func() { w.must(os.WriteFile(w.at("instance-uid"), nil, 0o600)) })},
		{name: "remove telemetry", do: killed(func() { w.must(os.RemoveAll(w.at("telemetry"))) })},
		{name: "damage telemetry", do: func() { w.away(syscall.SIGTERM, func() { w.zero("telemetry", "*.sst") }) }},
		{name: "damage the list of keys", do: killed(func() { w.zero("badger", "KEYREGISTRY") })},
		{name: "lose the list of tables", do: w.loseManifest},
		{name: "lose the words", do: killed(func() { w.must(os.RemoveAll(w.at("indexes"))) })},
		{name: "remove the cache", do: func() { w.must(os.RemoveAll(w.cached())); w.reload() }},
		{name: "cache is a file", do: func() {
			killed(func() { w.must(errors.Join(os.RemoveAll(w.cached()), os.WriteFile(w.cached(), nil, 0o600))) })()
			w.must(os.Remove(w.cached()))
		}},
		{name: "cache of another user", do: func() {
			killed(func() { w.must(errors.Join(os.MkdirAll(w.cached(), 0o700), os.Chown(w.cached(), 12345, 12345))) })()
			w.must(os.RemoveAll(w.cached()))
		}},
		{name: "read-only cache", do: func() {
			w.away(syscall.SIGTERM, func() { w.remount("ro") })
			w.putPlugin(w.rng.IntN(2))
			w.reload()
			w.remount("rw")
		}},
		{name: "fill the cache", do: func() {
			fill := filepath.Join(w.root, w.cache, "fill")
			w.fillDisk(fill)
			killed(func() { w.must(os.RemoveAll(w.cached())) })()
			w.putPlugin(w.rng.IntN(2))
			w.reload()
			w.must(os.Remove(fill))
		}},
		{name: "exchange what the cache has", do: killed(func() {
			if kept := w.cachedFiles(); len(kept) > 1 {
				n := w.rng.IntN(len(kept))
				a, b := kept[n], kept[(n+1)%len(kept)]
				w.must(errors.Join(os.Rename(a, a+".x"), os.Rename(b, a), os.Rename(a+".x", b)))
			}
		})},
		{name: "tear what the cache has", do: killed(func() {
			for _, file := range w.cachedFiles() {
				info, err := os.Stat(file)
				w.must(err)
				w.must(os.Truncate(file, w.rng.Int64N(info.Size()+1)))
			}
		})},
		{name: "cache of another machine", do: killed(func() { // its files have names that this one does not look for
			for _, file := range w.cachedFiles() {
				w.must(os.Rename(file, file+"0"))
			}
		})},
	}
}

func (w *week) cached() string { return filepath.Join(w.root, w.cache, "compiled") }

// cachedFiles are the compiled plugins that are kept.
func (w *week) cachedFiles() []string {
	kept, err := filepath.Glob(filepath.Join(w.cached(), "module-*"))
	w.must(err)
	return kept
}

// remount makes the disk of the cache read-only, or not.
func (w *week) remount(how string) {
	out, err := exec.Command("nsenter", "-t", fmt.Sprint(w.holder.Process.Pid), "-m", "mount", "-o", "remount,"+how, w.cache).CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v %s", w.step, err, out)
	}
}

// zero fills files of the data with zeros.
func (w *week) zero(dir, pattern string) {
	files, err := filepath.Glob(w.at(dir, pattern))
	w.must(err)
	for _, file := range files {
		info, err := os.Stat(file)
		w.must(err)
		w.must(os.WriteFile(file, make([]byte, info.Size()), 0o600))
	}
}

// loseManifest has a start refused, and everything as it was once the file is back.
func (w *week) loseManifest() {
	w.away(syscall.SIGTERM, func() {
		file := w.at("badger", "MANIFEST")
		w.must(os.Rename(file, file+".away"))
		cmd := w.program()
		said, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != exitFailed || !w.full && !strings.Contains(string(said), "MANIFEST: it is missing") {
			w.t.Errorf("%s: a start ended with %v, want an error:\n%s", w.step, err, said)
		}
		w.must(os.Rename(file+".away", file))
	})
}

// keepBackup notes the newest file of dir with the model.
func (w *week) keepBackup(option, dir string) {
	files, err := filepath.Glob(filepath.Join(w.root, w.disk, dir, "*"))
	w.must(err)
	if len(files) == 0 {
		w.t.Fatalf("%s: it left no file", w.step)
	}
	newest := slices.MaxFunc(files, func(a, b string) int {
		one, err := os.Stat(a)
		w.must(err)
		other, err := os.Stat(b)
		w.must(err)
		return one.ModTime().Compare(other.ModTime())
	})
	to := fmt.Sprintf("%s/backup-%d", w.disk, len(w.backups)%4)
	w.must(os.Rename(newest, filepath.Join(w.root, to)))
	w.backups = slices.DeleteFunc(w.backups, func(b keptBackup) bool { return b.file == to })
	w.backups = append(w.backups, keptBackup{option, to, maps.Clone(w.codes)})
}

// restore begins anew with a backup, as its page has it: the data directory is set aside first.
func (w *week) restore() {
	b := w.backups[w.rng.IntN(len(w.backups))]
	w.begin = []string{b.option, b.file}
	w.away(syscall.SIGTERM, func() {
		w.must(os.RemoveAll(w.at()))
		w.mu.Lock()
		w.codes = maps.Clone(b.codes)
		w.mu.Unlock()
	})
	w.begin = nil
}

func (w *week) reload() {
	w.t.Helper()
	if status, said := w.call("POST", "/plugins/reload", ""); status != http.StatusOK {
		w.t.Errorf("%s: reload: %d %s", w.step, status, said)
	}
}

// copyData has the service go on with a copy of its data.
func (w *week) copyData() {
	to := filepath.Join(w.disk, fmt.Sprint("data-", w.rng.IntN(1_000_000)))
	w.must(os.CopyFS(filepath.Join(w.root, to), os.DirFS(w.at())))
	w.must(os.RemoveAll(w.at()))
	w.data = to
}

func (w *week) fill() {
	w.full = true
	w.fillDisk(filepath.Join(w.root, w.disk, "fill"))
}

// useUpFiles makes as many empty files as the disk takes, whatever room it has.
func (w *week) useUpFiles() {
	w.full = true
	dir := filepath.Join(w.root, w.disk, "files")
	w.must(os.Mkdir(dir, 0o700))
	for n := 0; ; n++ {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(n)))
		if errors.Is(err, syscall.ENOSPC) {
			return
		}
		w.must(errors.Join(err, f.Close()))
	}
}

// noFiles reports whether useUpFiles was the last.
func (w *week) noFiles() bool {
	_, err := os.Stat(filepath.Join(w.root, w.disk, "files"))
	return err == nil
}

func (w *week) fillDisk(file string) {
	f, err := os.Create(file)
	w.must(err)
	defer f.Close()
	if _, err := io.CopyN(f, zeros{}, 1<<30); !errors.Is(err, syscall.ENOSPC) {
		w.t.Fatalf("%s: fill the disk: %v", w.step, err)
	}
}

func (w *week) empty() {
	for _, what := range []string{"fill", "files"} {
		w.must(os.RemoveAll(filepath.Join(w.root, w.disk, what)))
	}
	w.full = false
}
