package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// A host whose data directory goes while it opens has no telemetry, and ends when it is
// told to: its database would try to write for ever.
func TestOpenWithoutDirectory(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	c, _, err := config.Load(config.Sources{Flags: map[string]string{
		"http-addr": "127.0.0.1:0", "db-path": data, "plugin-lock": config.LockOff,
		"master-key": "a key for which keys are made", "shutdown-grace": "1s",
	}})
	if err != nil {
		t.Fatal(err)
	}
	said := &house.LogBuffer{}
	logs, err := logs.New(said, c.LogsMode, c.LogLevel)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	pace := host.Pace{Now: func() time.Time {
		once.Do(func() {
			if err := os.Rename(data, data+".gone"); err != nil {
				t.Errorf("the directory is not there yet: %v", err)
			}
			if err := os.WriteFile(data, nil, 0o600); err != nil { // so that telemetry finds no room
				t.Error(err)
			}
		})
		return time.Now()
	}}
	c.PluginCacheDir = house.CompiledModules(t)
	opened, err := host.Open(t.Context(), c, host.Options{Logs: logs, Version: "test", Pace: pace})
	if err != nil {
		t.Fatalf("Open = %v, want a host without telemetry", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- opened.Run(ctx) }()
	cancel()
	_ = house.Within(t, ended, "the host's end") // the database may say that its directory is gone
	if got := said.String(); !strings.Contains(got, "telemetry is off") {
		t.Errorf("the log does not say that telemetry is off:\n%s", got)
	}
}

// TestDisksOfTheirOwn: what Linux keeps on a disk is left there where folders of the data
// directory are disks of their own.
func TestDisksOfTheirOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"indexes", "bodies", "badger"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "lost+found", "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // also with an index beside it
		h := house.Open(t, map[string]string{"db-path": dir})
		h.AddFilms(1)
		h.Close()
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*", "lost+found", "x")); err != nil || len(left) != 3 {
		t.Errorf("left are %q, %v; want all three", left, err)
	}
}
