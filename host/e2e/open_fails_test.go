package e2e

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
)

// A host that cannot be opened, and whose data directory is gone by then, says why
// and ends: its database would try to write for ever.
func TestOpenFailsWithoutDirectory(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	data := filepath.Join(t.TempDir(), "data")
	c, _, err := host.LoadConfig(host.Sources{Flags: map[string]string{
		"http-addr": taken.Addr().String(), "db-path": data, "plugin-lock": host.LockOff, "no-analytics": "true",
		"master-key": "a key for which keys are made", "shutdown-grace": "1s",
	}})
	if err != nil {
		t.Fatal(err)
	}
	said := &house.LogBuffer{}
	logs, err := host.OpenLogs(c, said)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	pace := host.Pace{Now: func() time.Time {
		once.Do(func() {
			if err := os.Rename(data, data+".gone"); err != nil {
				t.Errorf("the directory is not there yet: %v", err)
			}
		})
		return time.Now()
	}}
	c.PluginCacheDir = house.CompiledModules(t)
	_, err = host.Open(t.Context(), c, host.Options{Logs: logs, Version: "test", Pace: pace})
	if err == nil || !strings.Contains(err.Error(), "listen on ") {
		t.Errorf("Open = %v, want the address refused", err)
	}
	if got := said.String(); !strings.Contains(got, "the database") {
		t.Errorf("the log does not name what was not closed:\n%s", got)
	}
}
