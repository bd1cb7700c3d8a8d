package benchmark

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/examples/quickstart"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// What is measured beside the host.
const (
	settingDirect = "direct"
	settingFloor  = "floor"
)

// masterKey is the master key of a host that is measured.
const masterKey = "bench-master-key-of-this-run"

// searchSource answers the row that makes a search.
const searchSource = "vLlm"

// A testBed is the processes of a measurement.
type testBed struct {
	dir      string
	progress io.Writer
	client   *http.Client
	running  []*exec.Cmd
	plain    []bench.Subject // what is measured of answers that are not streamed
}

// lay starts everything and returns what is to be measured.
func (t *testBed) lay(ctx context.Context, b *benchmark) ([]bench.Subject, error) {
	t.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: max(b.plan.Streams, plainClients), DisableCompression: true}}
	plugins := b.dir
	if plugins == "" {
		plugins = filepath.Join(t.dir, "plugins")
		if err := t.build(ctx, plugins, b.sources, b.find); err != nil {
			return nil, err
		}
	}
	provider, _, err := t.start("bench", "provider")
	if err != nil {
		return nil, err
	}
	floor, pid, err := t.start("bench", "floor", provider)
	if err != nil {
		return nil, err
	}
	const path = "/v1/chat/completions"
	subjects := []bench.Subject{
		{Setting: settingDirect, Target: bench.Target{URL: provider + path, Client: t.client}},
		{Setting: settingFloor, Target: bench.Target{URL: floor + path, Client: t.client}, PID: pid},
	}
	t.plain = []bench.Subject{{Setting: settingFloor, Target: bench.Target{URL: floor + "/page", Client: t.client}, PID: pid}}
	for _, setting := range b.settings {
		of, err := t.host(ctx, setting, plugins, provider, b.sources)
		if err != nil {
			return nil, fmt.Errorf("set up %s: %w", setting, err)
		}
		subjects = append(subjects, of...)
	}
	return subjects, nil
}

// build puts the plugins of the sources into dir.
func (t *testBed) build(ctx context.Context, dir string, sources []string, find FindModule) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, source := range append([]string{searchSource}, sources...) {
		module, err := find(ctx, source, t.progress)
		if err != nil {
			return err
		}
		if module == nil {
			return cmdutil.UsageError{Err: fmt.Errorf("no shipped plugin answers %s: name a folder of plugins by --plugin-dir", source)}
		}
		if err := os.WriteFile(filepath.Join(dir, source+".wasm"), module, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// host starts a host with a workspace for each source, and one that searches.
func (t *testBed) host(ctx context.Context, setting, plugins, provider string, sources []string) ([]bench.Subject, error) {
	args := []string{"serve", "--plugin-dir", plugins, "--plugin-lock=off", "--db-path", filepath.Join(t.dir, setting)}
	master := ""
	if setting == settingStd {
		master = masterKey
		args = append(args, "--master-key", master, "--experimental-logs-mode", "json")
	} else {
		args = append(args, "--log-level", "off")
	}
	base, pid, err := t.start(args...)
	if err != nil {
		return nil, err
	}
	h := &measuredHost{ctx: ctx, base: base, key: master, client: t.client}
	h.call("POST", "/indexes/movies/documents", string(quickstart.Movies))
	var subjects []bench.Subject
	add := func(name, source, workspace, model string, indexes string) {
		h.call("PATCH", "/chats/"+workspace+"/settings", bench.Settings(source, provider, indexes))
		subjects = append(subjects, bench.Subject{
			Setting: setting, Source: name, Model: model, PID: pid,
			Target: bench.Target{URL: base + "/chats/" + workspace + "/chat/completions", Client: t.client},
		})
	}
	for _, source := range sources {
		add(source, source, source, "", "[]")
	}
	add("search", searchSource, "search", "search-", `["movies"]`)
	for _, part := range []struct{ name, path string }{{"workspaces", "/chats"}, {"settings", "/chats/search/settings"}} {
		t.plain = append(t.plain, bench.Subject{
			Setting: setting, Source: part.name, PID: pid, Target: bench.Target{URL: base + part.path, Key: master, Client: t.client},
		})
	}
	if master != "" {
		var key struct{ Key string }
		if err := json.Unmarshal(h.call("POST", "/keys", `{"actions":["chatCompletions","search"],"indexes":["*"],"expiresAt":null}`), &key); h.err == nil && err != nil {
			return nil, err
		}
		for i := range subjects {
			subjects[i].Key = key.Key
		}
	}
	for h.err == nil && !bytes.Contains(h.call("GET", "/indexes/movies/stats", ""), []byte(`"isIndexing":false`)) {
		time.Sleep(50 * time.Millisecond)
	}
	return subjects, h.err
}

// A measuredHost is a host that is set up; the first error ends it.
type measuredHost struct {
	ctx       context.Context
	base, key string
	client    *http.Client
	err       error
}

func (h *measuredHost) call(method, path, body string) []byte {
	if h.err != nil {
		return nil
	}
	req, err := http.NewRequestWithContext(h.ctx, method, h.base+path, bytes.NewReader([]byte(body)))
	if err != nil {
		h.err = err
		return nil
	}
	req.Header.Set("Content-Type", "application/json")
	return h.do(req)
}

// do sends a request and returns its answer.
func (h *measuredHost) do(req *http.Request) []byte {
	if h.key != "" {
		req.Header.Set("Authorization", "Bearer "+h.key)
	}
	res, err := h.client.Do(req)
	if err != nil {
		h.err = err
		return nil
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 && !(req.URL.Path == "/indexes/movies/stats" && res.StatusCode == http.StatusNotFound) {
		err = fmt.Errorf("%s %s answers %d: %s", req.Method, req.URL.Path, res.StatusCode, b)
	}
	h.err = err
	return b
}

// start runs this program again, as a server on a free port of loopback, and
// returns once it answers. For the host the address is a flag, else the third
// argument.
func (t *testBed) start(args ...string) (base string, pid int, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", 0, err
	}
	addr := ln.Addr().String()
	if err := ln.Close(); err != nil {
		return "", 0, err
	}
	if args[0] == "serve" {
		args = append(args, "--http-addr", addr)
	} else {
		args = slices.Insert(slices.Clone(args), 2, addr)
	}
	self, err := os.Executable()
	if err != nil {
		return "", 0, err
	}
	log, err := os.Create(filepath.Join(t.dir, fmt.Sprintf("log%d", len(t.running))))
	if err != nil {
		return "", 0, err
	}
	defer log.Close()
	cmd := exec.Command(self, args...)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	t.running = append(t.running, cmd)
	base = "http://" + addr
	for range 6000 { // a first start compiles the plugins, on a busy machine for minutes
		if res, err := t.client.Get(base + "/health"); err == nil {
			res.Body.Close()
			return base, cmd.Process.Pid, nil
		}
		if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	said, _ := os.ReadFile(log.Name())
	return "", 0, fmt.Errorf("%s did not begin to answer: %s", args[0], bytes.TrimSpace(said))
}

// close ends what was started, and waits for it.
func (t *testBed) close() {
	for _, cmd := range slices.Backward(t.running) {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed: an error says so
	}
}
