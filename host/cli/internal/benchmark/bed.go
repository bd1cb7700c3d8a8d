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
	h := &cmdutil.Client{URL: base, Key: master}
	if _, err := h.Finish(ctx, http.MethodPost, "/indexes/movies/documents", json.RawMessage(quickstart.Movies)); err != nil {
		return nil, err
	}
	key := master
	if master != "" {
		var made struct{ Key string }
		rights := map[string]any{"actions": []string{"chatCompletions", "search"}, "indexes": []string{"*"}, "expiresAt": nil}
		if err := h.Call(ctx, http.MethodPost, "/keys", rights, &made); err != nil {
			return nil, err
		}
		key = made.Key
	}
	var subjects []bench.Subject
	add := func(name, source, workspace, model, indexes string) error {
		subjects = append(subjects, bench.Subject{
			Setting: setting, Source: name, Model: model, PID: pid,
			Target: bench.Target{URL: base + "/chats/" + workspace + "/chat/completions", Key: key, Client: t.client},
		})
		return h.Call(ctx, http.MethodPatch, "/chats/"+workspace+"/settings", json.RawMessage(bench.Settings(source, provider, indexes)), new(any))
	}
	for _, source := range sources {
		if err := add(source, source, source, "", "[]"); err != nil {
			return nil, err
		}
	}
	for _, part := range []struct{ name, path string }{{"workspaces", "/chats"}, {"settings", "/chats/search/settings"}} {
		t.plain = append(t.plain, bench.Subject{
			Setting: setting, Source: part.name, PID: pid, Target: bench.Target{URL: base + part.path, Key: master, Client: t.client},
		})
	}
	return subjects, add("search", searchSource, "search", "search-", `["movies"]`)
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
