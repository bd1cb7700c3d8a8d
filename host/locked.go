package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// locked is what a host knows of the lock that it goes by.
type locked struct {
	last    []byte // that it went by; nil: none. Host.applying guards it
	problem atomic.Pointer[string]
}

// keptLock is the file in the data directory that has the last lock which could be read: a
// lock that is damaged, or gone, must not decide that a restart runs no plugin.
const keptLock = "plugins.kept"

// A kept lock, and the plugin directory that it is of.
type kept struct {
	Dir  string `json:"dir"`
	Lock string `json:"lock"`
}

// planPlugins says what is to run now. Where the lock cannot be read, or is gone, an error
// says so and nothing changes; a host that starts goes by the last one that could be
// read. applying is held.
func (h *Host) planPlugins() (plugin.Plan, error) {
	if h.config.PluginLock == config.LockOff {
		return PlanPlugins(h.config, h.modules)
	}
	d := pluginDir(h.config)
	plan, text, err := lockedPlan(d, h.modules)
	if errors.Is(err, deploy.ErrNoLock) && h.locked.last == nil && (h.keptLock() == nil || !d.HasModules()) {
		return d.Locked(h.modules) // nothing was ever pinned here, or all of it was taken away
	}
	if err == nil {
		h.locked.problem.Store(nil)
		if string(text) != string(h.locked.last) {
			h.locked.last = text
			h.keepLock(text)
		}
		return plan, nil
	}
	problem := fmt.Sprintf("%v: the host goes by the lock that it read last; put the lock back, as from version control, or begin a new one by `parley plugin install FILE --new-lock`", err)
	if !errors.Is(err, deploy.ErrNoLock) {
		problem = fmt.Sprintf("%v: until then the host goes by the lock that it read last", err)
	}
	if h.locked.last != nil {
		h.locked.problem.Store(&problem)
		return plan, errors.New(problem)
	}
	if d.Lock = h.keptLock(); d.Lock == nil {
		return plan, err
	}
	plan, keptErr := d.Locked(h.modules)
	if keptErr != nil {
		return plan, err
	}
	h.locked.last = d.Lock
	h.locked.problem.Store(&problem)
	h.log.Error().Msg(problem)
	return plan, nil
}

// lockedPlan returns what the lock of d wants to run, and its text.
func lockedPlan(d deploy.Dir, embedded [][]byte) (plan plugin.Plan, text []byte, err error) {
	if text, err = d.ReadLockText(); err != nil {
		return plan, nil, err
	}
	d.Lock = text
	plan, err = d.Locked(embedded)
	return plan, text, err
}

// keepLock keeps text for a start that finds no lock. Where it cannot, the host goes on.
func (h *Host) keepLock(text []byte) {
	b, err := json.Marshal(kept{h.absolutePluginDir(), string(text)})
	if err == nil {
		err = sysinfo.ReplaceFile(filepath.Join(h.config.DBPath, keptLock), b)
	}
	if err != nil {
		h.log.Warn().Err(err).Msg("no copy of plugins.lock is kept for a start that finds it damaged")
	}
}

// keptLock returns the lock that was kept of this plugin directory; nil: none was.
func (h *Host) keptLock() []byte {
	var k kept
	b, err := os.ReadFile(filepath.Join(h.config.DBPath, keptLock))
	if err != nil || json.Unmarshal(b, &k) != nil || k.Dir != h.absolutePluginDir() || k.Lock == "" {
		return nil
	}
	return []byte(k.Lock)
}

func (h *Host) absolutePluginDir() string {
	dir, err := filepath.Abs(h.config.PluginDir)
	if err != nil {
		return h.config.PluginDir
	}
	return dir
}
