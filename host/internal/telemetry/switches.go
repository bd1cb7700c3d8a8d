package telemetry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parley-search/parley/host/internal/base/sysinfo"
)

// The files of a data directory that are telemetry's.
const (
	uidFile     = "instance-uid"
	machineFile = "instance-machine" // see [OpenUID]
	offFile     = "telemetry-off"
	SpoolDir    = "telemetry"
	// SpoolAside ends the name of a spool's folder that is being replaced.
	SpoolAside = ".old"
)

// The variables that switch telemetry off.
const (
	EnvNoAnalytics = "PARLEY_NO_ANALYTICS"
	EnvDoNotTrack  = "DO_NOT_TRACK"
)

// Off reports whether the value of one of the variables means off: unset,
// empty, 0, false, no and off leave telemetry on, everything else switches it
// off, nonsense too.
func Off(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

// DecideBy says what of the configuration switches telemetry off, or "" where
// nothing does. environ is as os.Environ gives it; option, where not empty, says
// where the option no-analytics was set to do so.
func DecideBy(environ []string, option string) (by string) {
	for _, name := range []string{EnvNoAnalytics, EnvDoNotTrack} {
		for _, kv := range environ {
			if value, ok := strings.CutPrefix(kv, name+"="); ok && Off(value) {
				return "environment variable " + name
			}
		}
	}
	return option
}

// SwitchedOff says what switched telemetry off in the data directory dir, or ""
// where nothing did.
func SwitchedOff(dir string) (by string, err error) {
	switch _, err := os.Stat(filepath.Join(dir, offFile)); {
	case err == nil:
		return "`parley telemetry off`", nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("look for %s: %w", offFile, err)
	}
	return "", nil
}

// SwitchOff makes telemetry stay off from the next start on; SwitchOn takes it
// back. Both may be called again.
func SwitchOff(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("switch telemetry off: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, offFile), []byte("off\n"), 0o600); err != nil {
		return fmt.Errorf("switch telemetry off: %w", err)
	}
	return nil
}

// SwitchOn takes back what SwitchOff did.
func SwitchOn(dir string) error {
	if err := os.Remove(filepath.Join(dir, offFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("switch telemetry on: %w", err)
	}
	return nil
}

// RemoveSpool removes what is spooled, where there is anything.
func RemoveSpool(dir string) error {
	// The second is what a crash leaves while the spool is made anew.
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, SpoolDir)), os.RemoveAll(filepath.Join(dir, SpoolDir+SpoolAside))); err != nil {
		return fmt.Errorf("remove telemetry spool: %w", err)
	}
	return nil
}

// errDamaged says that the Instance UID cannot be read: what it was, nobody knows.
var errDamaged = errors.New("it holds no UUID")

// OpenUID returns the Instance UID of the data directory dir. A new one is made where there
// is none; where it cannot be read, as after a loss of power; and where the directory was
// copied from another machine, whose id is not machine: as one instance, both would send
// different messages. anew says why, of the last two; machine is empty where that is not
// known.
func OpenUID(dir, machine string) (u UUID, anew, err error) {
	u, err = ReadUID(dir)
	switch note, noted := readMachine(dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		anew = err
		// A folder, too, would be in the way.
		if err := os.Rename(filepath.Join(dir, uidFile), filepath.Join(dir, uidFile+".bad")); err != nil {
			return u, anew, fmt.Errorf("put the instance UID aside: %w", err)
		}
	case machine == "" || noted && note == machineNote(u, machine):
		return u, nil, nil
	case noted:
		anew = errors.New("the data directory was copied from another machine")
	default: // of a version that noted no machine
		return u, nil, writeMachine(dir, u, machine)
	}
	u = NewUUID()
	if err := sysinfo.ReplaceFile(filepath.Join(dir, uidFile), []byte(u.String()+"\n")); err != nil {
		return u, anew, fmt.Errorf("write instance UID: %w", err)
	}
	return u, anew, writeMachine(dir, u, machine)
}

// ReadUID returns the Instance UID, or an error that is fs.ErrNotExist where there is none.
func ReadUID(dir string) (UUID, error) {
	b, err := os.ReadFile(filepath.Join(dir, uidFile))
	if err != nil {
		return UUID{}, fmt.Errorf("read instance UID: %w", err)
	}
	u, err := ParseUUID(strings.TrimSpace(string(b)))
	if err != nil {
		return UUID{}, fmt.Errorf("read instance UID: %w", errDamaged)
	}
	return u, nil
}

// machineNote stands for a machine beside the UID u, and tells nobody which it is.
func machineNote(u UUID, machine string) string { return u.Derive("machine\n" + machine).String() }

func readMachine(dir string) (note string, ok bool) {
	b, err := os.ReadFile(filepath.Join(dir, machineFile))
	note = strings.TrimSpace(string(b))
	_, bad := ParseUUID(note)
	return note, err == nil && bad == nil // one that is damaged says nothing
}

// writeMachine notes the machine that the directory dir with the UID u is on.
func writeMachine(dir string, u UUID, machine string) error {
	if machine == "" {
		return nil
	}
	if err := sysinfo.ReplaceFile(filepath.Join(dir, machineFile), []byte(machineNote(u, machine)+"\n")); err != nil {
		return fmt.Errorf("note the machine beside the instance UID: %w", err)
	}
	return nil
}

// Forget stops telemetry for good: it is off from the next start on, and spool
// and UID are gone. It returns the UID that was.
func Forget(dir string) (UUID, error) {
	u, err := ForgetUID(dir)
	return u, errors.Join(err, RemoveSpool(dir))
}

// ForgetUID is Forget where the spool is open: whoever has it empties it.
func ForgetUID(dir string) (UUID, error) {
	u, missing := ReadUID(dir)
	if missing != nil && !errors.Is(missing, fs.ErrNotExist) {
		missing = fs.ErrNotExist // nobody can read it: it goes all the same
	}
	err := SwitchOff(dir)
	for _, name := range []string{uidFile, uidFile + ".bad", machineFile} {
		if e := os.RemoveAll(filepath.Join(dir, name)); e != nil {
			err = errors.Join(err, fmt.Errorf("remove instance UID: %w", e))
		}
	}
	return u, errors.Join(err, missing)
}
