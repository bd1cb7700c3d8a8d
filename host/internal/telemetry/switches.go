package telemetry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The files of a data directory that are telemetry's.
const (
	uidFile  = "instance-uid"
	offFile  = "telemetry-off"
	SpoolDir = "telemetry"
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

// OpenUID returns the Instance UID of a data directory, which is made where
// there is none.
func OpenUID(dir string) (UUID, error) {
	u, err := ReadUID(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return u, err
	}
	u = NewUUID()
	file := filepath.Join(dir, uidFile)
	if err := os.WriteFile(file, []byte(u.String()+"\n"), 0o600); err != nil {
		return UUID{}, fmt.Errorf("write instance UID: %w", err)
	}
	return u, nil
}

// ReadUID returns the Instance UID, or an error that is fs.ErrNotExist.
func ReadUID(dir string) (UUID, error) {
	file := filepath.Join(dir, uidFile)
	b, err := os.ReadFile(file)
	if err != nil {
		return UUID{}, fmt.Errorf("read instance UID: %w", err)
	}
	u, err := ParseUUID(strings.TrimSpace(string(b)))
	if err != nil {
		return UUID{}, fmt.Errorf("read instance UID from %s: %w: remove the file to get a new one", file, err)
	}
	return u, nil
}

// Forget stops telemetry for good: it is off from the next start on, and spool
// and UID are gone. It returns the UID that was.
func Forget(dir string) (UUID, error) {
	u, err := ForgetUID(dir)
	return u, errors.Join(err, RemoveSpool(dir))
}

// ForgetUID is Forget where the spool is open: whoever has it empties it.
func ForgetUID(dir string) (UUID, error) {
	u, err := ReadUID(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return UUID{}, err
	}
	missing := err
	err = SwitchOff(dir)
	if e := os.Remove(filepath.Join(dir, uidFile)); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, fmt.Errorf("remove instance UID: %w", e))
	}
	return u, errors.Join(err, missing)
}
