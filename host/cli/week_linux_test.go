package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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
	kinds := w.acts()
	names := slices.Sorted(maps.Keys(kinds))
	done := map[string]int{}
	for n := range acts {
		w.act = names[w.rng.IntN(len(names))]
		w.step = fmt.Sprintf("act %d of seed %d, %s", n, seed, w.act)
		t.Log(w.step)
		kinds[w.act]()
		done[w.act]++
		w.check()
		if t.Failed() {
			break
		}
	}
	asked()
	t.Logf("%d questions answered right, %d refused while an act explains it; acts: %v", w.right.Load(), w.excused.Load(), done)
	if w.right.Load() < int64(acts) {
		t.Errorf("%d questions were answered, want one for each act at least", w.right.Load())
	}
}

// A week is a service with what is known of it.
type week struct {
	*life
	t         *testing.T
	rng       *rand.Rand
	act, step string
	root      string // where the service's mounts are seen
	disk      string // the small disk that its data lies on, as the service sees it
	data      string // the data directory, below disk
	plugins   string // a link to the plugin directory
	holder    *exec.Cmd
	versions  [2][]byte
	codes     map[int]string // the model: what each document says
	next      int
	full      bool
	cache     string // a small disk of its own for compiled plugins, as the service sees it
	backups   []keptBackup
	begin     []string // what the next start is given besides

	// period is even while every question must be answered, and odd while an act explains why not.
	period         atomic.Int64
	current        atomic.Pointer[life]
	right, excused atomic.Int64
	mu             sync.Mutex // of codes
}

// A keptBackup is a snapshot or a dump, with the model of when it was made.
type keptBackup struct {
	option, file string
	codes        map[int]string
}

func newWeek(t *testing.T, seed uint64) *week {
	w := &week{t: t, rng: rand.New(rand.NewPCG(seed, 40)), disk: t.TempDir(), cache: t.TempDir(), codes: map[int]string{}}
	const mount = `mount -t tmpfs -o size=500m none "$0" && mount -t tmpfs -o size=48m none "$1" && shift && exec "$@"`
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
	w.life = &life{t: w.t, cmd: program, http: &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}}
	w.url = startServing(w.t, program, io.Discard)
	w.t.Cleanup(w.kill)
	if !comesTrue(func() bool { status, _ := w.call("GET", "/ready", ""); return status == http.StatusOK }) {
		w.t.Fatalf("%s: the service is not ready", w.step)
	}
	w.current.Store(w.life)
}

// away does f while the service does not run.
func (w *week) away(signal syscall.Signal, f func()) {
	w.t.Helper()
	w.period.Add(1)
	w.must(w.cmd.Process.Signal(signal))
	err := waitFor(w.cmd)
	if code := w.cmd.ProcessState.ExitCode(); signal == syscall.SIGTERM && code != 0 && !w.full {
		w.t.Errorf("%s: SIGTERM ended it with %v", w.step, err)
	}
	w.life.once.Do(w.life.http.CloseIdleConnections)
	f()
	if _, err := os.Stat(w.at("ballast")); err != nil && w.full {
		w.empty() // a start was refused else
	}
	w.start()
	w.period.Add(1)
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

// ask asks the service of a life; wrong says what is not right with the answer.
func (w *week) ask(c *life, rng *rand.Rand) (wrong string) {
	n, code := w.anyDocument(rng)
	status, said := c.call("POST", "/chats/demo/chat/completions", fmt.Sprintf(`{"model":"any","stream":true,"messages":[{"role":"user","content":"What is the secret code of parcel number%d?"}]}`, n))
	if status == http.StatusOK && strings.Contains(said, code) {
		return ""
	}
	w.mu.Lock()
	now := w.codes[n]
	w.mu.Unlock()
	if now != code {
		return "" // it was deleted meanwhile
	}
	return fmt.Sprintf("asked for %s of number%d, got %d %.300s", code, n, status, said)
}

// askAlways asks from two clients until the function that it returns is called.
func (w *week) askAlways() (stop func()) {
	ended := make(chan struct{})
	var all sync.WaitGroup
	for i := range 2 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			for {
				select {
				case <-ended:
					return
				case <-time.After(20 * time.Millisecond):
				}
				before := w.period.Load()
				wrong := w.ask(w.current.Load(), rng)
				switch after := w.period.Load(); {
				case wrong == "":
					w.right.Add(1)
				case before%2 == 1 || before != after:
					w.excused.Add(1)
				default:
					w.t.Errorf("%s: %s", w.step, wrong)
					return
				}
			}
		})
	}
	return func() { close(ended); all.Wait() }
}

// check compares the service with the model.
func (w *week) check() {
	w.t.Helper()
	if err := w.cmd.Process.Signal(syscall.Signal(0)); err != nil {
		w.t.Fatalf("%s: the service has ended: %v", w.step, err)
	}
	if wrong := w.ask(w.life, w.rng); wrong != "" {
		w.t.Errorf("%s: %s", w.step, wrong)
	} else {
		w.right.Add(1)
	}
	if _, said := w.call("GET", "/indexes/notes/documents?limit=1", ""); !strings.Contains(said, fmt.Sprintf(`"total":%d`, len(w.codes))) {
		w.t.Errorf("%s: documents %.200s, want %d of them", w.step, said, len(w.codes))
	}
}

// acts are what may happen.
func (w *week) acts() map[string]func() {
	nothing := func() {}
	return map[string]func(){
		"add a document": func() {
			if !w.full {
				w.addDocument()
				return
			}
			if status, said := w.call("POST", "/indexes/notes/documents", `[{"id":1}]`); status != http.StatusUnprocessableEntity || !strings.Contains(said, "no_space_left_on_device") {
				w.t.Errorf("%s: on a full disk: %d %s", w.step, status, said)
			}
		},
		"delete a document": func() {
			if w.full || len(w.codes) < 5 {
				return
			}
			n, _ := w.anyDocument(w.rng)
			w.mu.Lock()
			delete(w.codes, n)
			w.mu.Unlock()
			w.wantTask("", "DELETE", fmt.Sprintf("/indexes/notes/documents/%d", n), "succeeded")
		},
		"swap the plugin": func() { w.putPlugin(w.rng.IntN(2)); w.reload() },
		"half a plugin": func() {
			file := filepath.Join(w.plugins, "other.wasm")
			w.must(os.WriteFile(file, w.versions[0][:w.rng.IntN(len(w.versions[0]))], 0o600))
			w.reload()
			w.must(os.Remove(file))
		},
		"remove the plugin, and bring it back": func() {
			w.period.Add(1)
			file := filepath.Join(w.plugins, "extract.wasm")
			w.must(os.Rename(file, file+".away"))
			w.reload()
			w.must(os.Rename(file+".away", file))
			w.reload()
			w.period.Add(1)
		},
		"make the plugin unreadable": func() {
			file := filepath.Join(w.plugins, "extract.wasm")
			w.must(os.Chmod(file, 0))
			w.must(os.Chmod(file, 0o600))
			w.reload()
		},
		"link another release": func() {
			base := filepath.Dir(w.plugins)
			name := fmt.Sprintf("release-%d", w.rng.IntN(1_000_000))
			w.must(os.CopyFS(filepath.Join(base, name), os.DirFS(w.plugins)))
			w.must(os.Symlink(name, w.plugins+".new"))
			w.must(os.Rename(w.plugins+".new", w.plugins))
			w.reload()
		},
		"SIGHUP":             func() { w.must(w.cmd.Process.Signal(syscall.SIGHUP)) },
		"kill it":            func() { w.away(syscall.SIGKILL, nothing) },
		"end it":             func() { w.away(syscall.SIGTERM, nothing) },
		"quit it":            func() { w.away(syscall.SIGQUIT, nothing) },
		"tear the UID":       func() { w.away(syscall.SIGKILL, func() { w.must(os.WriteFile(w.at("instance-uid"), nil, 0o600)) }) },
		"remove telemetry":   func() { w.away(syscall.SIGKILL, func() { w.must(os.RemoveAll(w.at("telemetry"))) }) },
		"copy the directory": func() { w.away(syscall.SIGTERM, w.copyData) },
		"restore a backup":   w.restore,
		"remove the cache":   func() { w.must(os.RemoveAll(w.cached())); w.reload() },
		"cache is a file": func() {
			w.away(syscall.SIGKILL, func() {
				w.must(errors.Join(os.RemoveAll(w.cached()), os.WriteFile(w.cached(), nil, 0o600)))
			})
			w.must(os.Remove(w.cached()))
		},
		"cache of another user": func() {
			w.away(syscall.SIGKILL, func() { w.must(errors.Join(os.MkdirAll(w.cached(), 0o700), os.Chown(w.cached(), 12345, 12345))) })
			w.must(os.RemoveAll(w.cached()))
		},
		"read-only cache": func() {
			w.away(syscall.SIGTERM, func() { w.remount("ro") })
			w.putPlugin(w.rng.IntN(2))
			w.reload()
			w.remount("rw")
		},
		"fill the cache": func() {
			fill := filepath.Join(w.root, w.cache, "fill")
			w.fillDisk(fill)
			w.away(syscall.SIGKILL, func() { w.must(os.RemoveAll(w.cached())) })
			w.putPlugin(w.rng.IntN(2))
			w.reload()
			w.must(os.Remove(fill))
		},
		"exchange what the cache has": func() {
			w.away(syscall.SIGKILL, func() {
				if kept := w.cachedFiles(); len(kept) > 1 {
					n := w.rng.IntN(len(kept))
					a, b := kept[n], kept[(n+1)%len(kept)]
					w.must(errors.Join(os.Rename(a, a+".x"), os.Rename(b, a), os.Rename(a+".x", b)))
				}
			})
		},
		"tear what the cache has": func() {
			w.away(syscall.SIGKILL, func() {
				for _, file := range w.cachedFiles() {
					info, err := os.Stat(file)
					w.must(err)
					w.must(os.Truncate(file, w.rng.Int64N(info.Size()+1)))
				}
			})
		},
		"cache of another machine": func() { // its files have names that this one does not look for
			w.away(syscall.SIGKILL, func() {
				for _, file := range w.cachedFiles() {
					w.must(os.Rename(file, file+"0"))
				}
			})
		},
		"make a dump": func() {
			if !w.full {
				w.wantTask("", "POST", "/dumps", "succeeded")
				w.keepBackup("--import-dump", "dumps")
			}
		},
		"stop it for a while": func() {
			w.must(w.cmd.Process.Signal(syscall.SIGSTOP))
			w.must(w.cmd.Process.Signal(syscall.SIGCONT))
		},
		"lose the plugin folder, and bring it back": func() {
			w.period.Add(1)
			w.must(os.Rename(w.plugins, w.plugins+".away"))
			w.call("POST", "/plugins/reload", "")
			w.must(os.Rename(w.plugins+".away", w.plugins))
			w.reload()
			w.period.Add(1)
		},
		"damage telemetry":        func() { w.away(syscall.SIGTERM, func() { w.zero("telemetry", "*.sst") }) },
		"damage the list of keys": func() { w.away(syscall.SIGKILL, func() { w.zero("badger", "KEYREGISTRY") }) },
		"lose the list of tables": w.loseManifest,
		"lose the words":          func() { w.away(syscall.SIGKILL, func() { w.must(os.RemoveAll(w.at("indexes"))) }) },
		"fill the disk":           w.fill,
		"empty the disk":          w.empty,
		"make a snapshot": func() {
			if !w.full {
				w.wantTask("", "POST", "/snapshots", "succeeded")
				w.keepBackup("--import-snapshot", "snapshots")
			}
		},
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
	if w.full || len(w.backups) == 0 {
		return
	}
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
	if w.full {
		return
	}
	to := filepath.Join(w.disk, fmt.Sprint("data-", w.rng.IntN(1_000_000)))
	w.must(os.CopyFS(filepath.Join(w.root, to), os.DirFS(w.at())))
	w.must(os.RemoveAll(w.at()))
	w.data = to
}

func (w *week) fill() {
	w.full = true
	w.fillDisk(filepath.Join(w.root, w.disk, "fill"))
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
	if err := os.Remove(filepath.Join(w.root, w.disk, "fill")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.must(err)
	}
	w.full = false
}
