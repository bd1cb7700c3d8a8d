package e2e

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// openCarrying opens a host that takes up what load returns, and serves nothing.
func openCarrying(t *testing.T, ctx context.Context, load func(context.Context) ([][]byte, error), done func(error)) *host.Host {
	t.Helper()
	dir := t.TempDir()
	c, _, err := config.Load(config.Sources{Flags: map[string]string{"http-addr": "127.0.0.1:0", "db-path": dir, "plugin-lock": config.LockOff, "log-level": "off"}})
	if err != nil {
		t.Fatal(err)
	}
	logs, err := logs.New(t.Output(), c.LogsMode, c.LogLevel)
	if err != nil {
		t.Fatal(err)
	}
	c.PluginCacheDir = house.CompiledModules(t)
	h, err := host.Open(t.Context(), c, host.Options{Logs: logs, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	h.CarryLater(ctx, load, done)
	return h
}

// TestCarryLaterTold wants the end of taking modules up to be told, good or bad.
func TestCarryLaterTold(t *testing.T) {
	t.Parallel()
	module := house.Shipped(t, "extract")
	broken := errors.New("the compiler is gone")
	for name, tt := range map[string]struct {
		modules [][]byte
		err     error
		want    string // in what is told; empty: nothing is wrong
	}{
		"a plugin":      {[][]byte{module}, nil, ""},
		"no plugin":     {[][]byte{[]byte("text")}, nil, "not a WebAssembly module"},
		"nothing built": {nil, broken, broken.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			told := make(chan error, 1)
			h := openCarrying(t, t.Context(), func(context.Context) ([][]byte, error) { return tt.modules, tt.err }, func(err error) { told <- err })
			err := <-told
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("told %v, want %q", err, tt.want)
			}
			if err := h.Reload(t.Context()); err != nil {
				t.Errorf("reload after it: %v", err)
			}
			if err := h.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// TestCarryLaterClosed closes a host, or ends the context, while modules are
// being built or loaded: Close waits for the end of it, and nothing is told.
func TestCarryLaterClosed(t *testing.T) {
	t.Parallel()
	module := house.Shipped(t, "extract")
	for name, load := range map[string]func(ctx context.Context, begun chan<- struct{}) ([][]byte, error){
		"building": func(ctx context.Context, begun chan<- struct{}) ([][]byte, error) {
			close(begun)
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"loading": func(_ context.Context, begun chan<- struct{}) ([][]byte, error) {
			close(begun)
			return [][]byte{module}, nil
		},
	} {
		for _, by := range []string{"Close", "context"} {
			t.Run(name+" ended by "+by, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				begun := make(chan struct{})
				var running atomic.Bool
				running.Store(true)
				h := openCarrying(t, ctx, func(ctx context.Context) ([][]byte, error) {
					modules, err := load(ctx, begun)
					if err != nil {
						running.Store(false)
					}
					return modules, err
				}, func(err error) {
					if err != nil && strings.Contains(err.Error(), "closed") {
						t.Errorf("told of the host's own end: %v", err)
					}
				})
				<-begun
				if by == "context" {
					cancel()
				}
				if err := h.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
				if name == "building" && running.Load() {
					t.Error("Close did not wait for what was being built")
				}
			})
		}
	}
}
