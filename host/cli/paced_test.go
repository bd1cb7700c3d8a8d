package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// A test binary that is the program with the value paced of reexec has a clock
// that runs an hour a second, from the moment in pacedFrom on, and carries the
// module at pacedModule.
const (
	paced       = "paced"
	pacedFrom   = "TEST_PACED_FROM"
	pacedModule = "TEST_PACED_MODULE"
)

// runPaced serves with the options that the command line gives as name=value.
func runPaced() int {
	err := func() error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		flags := map[string]string{}
		for _, arg := range os.Args[1:] {
			name, value, _ := strings.Cut(arg, "=")
			flags[name] = value
		}
		from, err := strconv.ParseInt(os.Getenv(pacedFrom), 10, 64)
		if err != nil {
			return err
		}
		module, err := os.ReadFile(os.Getenv(pacedModule))
		if err != nil {
			return err
		}
		c, _, err := config.Load(config.Sources{Flags: flags})
		if err != nil {
			return err
		}
		logs, err := logs.New(os.Stderr, c.LogsMode, c.LogLevel)
		if err != nil {
			return err
		}
		epoch := time.Unix(0, from)
		h, err := host.Open(ctx, c, host.Options{
			Logs: logs, Embedded: [][]byte{module}, Version: "1.2.3",
			Pace: host.Pace{Tick: 20 * time.Millisecond, Now: func() time.Time { return epoch.Add(3600 * time.Since(epoch)) }},
		})
		if err != nil {
			return err
		}
		return h.Run(ctx)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	return exitOK
}

// A pacedHost is a data directory on which the paced program lives again and
// again.
type pacedHost struct {
	t            *testing.T
	dir, plugins string
	env, args    []string
}

// newPaced packs the hand-written collector counter, which counts events.
func newPaced(t *testing.T, events, url string) *pacedHost {
	t.Helper()
	p := &pacedHost{t: t, dir: t.TempDir(), plugins: t.TempDir()}
	manifest := filepath.Join(p.plugins, "counter.json")
	text := `{"abi":1,"kind":"collector","name":"counter","version":"1.0.0","events":["` + events + `"],"metrics":[
		{"path":"counted","kind":"int","range":[0,1000000],"meaning":"Events.","aggregation":"sum","noData":"always","events":["` + events + `"]}]}`
	if err := os.WriteFile(manifest, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	guest := filepath.Join(root(t), "host", "internal", "plugin", "testdata", "collector.wasm")
	if code, out := parleySays(t, "plugin", "pack", guest, "--manifest", manifest, "--out", p.plugins); code != exitOK {
		t.Fatalf("plugin pack: code %d\n%s", code, out)
	}
	p.env = append(os.Environ(), reexec+"="+paced, pacedFrom+"="+strconv.FormatInt(time.Now().UnixNano(), 10), pacedModule+"="+filepath.Join(p.plugins, "counter-1.0.0.wasm"))
	p.args = []string{
		"db-path=" + p.dir, "http-addr=127.0.0.1:0", "experimental-logs-mode=json", "plugin-dir=" + filepath.Join(p.plugins, "none"), "telemetry-url=" + url + "/v1/batch",
	}
	return p
}

func (p *pacedHost) start() *life {
	p.t.Helper()
	cmd := exec.Command(os.Args[0], p.args...)
	cmd.Env = p.env
	c := &life{t: p.t, cmd: cmd, http: &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}}
	c.url = startServing(p.t, cmd, io.Discard)
	p.t.Cleanup(c.kill)
	return c
}
