package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/abi/manifest"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// A Kind is what values of an option may be, and where they go.
type Kind struct {
	Name    string // such as size or duration
	Allowed string // what a value may be, for --help and error messages
	// Examples are values that are allowed, and Wrong is one that is refused; empty
	// where none is, or the empty one. The tests try them for each option.
	Examples []string
	Wrong    string
	List     bool // values are separated by commas, in the configuration file by a list

	set func(c *Config, value string) error
}

// The names of kinds that flags and tests treat in their own way.
const (
	KindSwitch    = "switch" // the bare flag means true
	KindDirectory = "directory"
	KindFile      = "file"
)

func switchKind(field func(*Config) *bool) Kind {
	return Kind{Name: KindSwitch, Allowed: "true or false", Examples: []string{"true", "false"}, Wrong: "perhaps", set: func(c *Config, v string) error {
		switch strings.ToLower(v) { // programs that write configuration have True, too
		case "true", "1", "yes", "on":
			*field(c) = true
		case "false", "0", "no", "off":
			*field(c) = false
		default:
			return fmt.Errorf("is %q", v)
		}
		return nil
	}}
}

// optOutKind is the switch that takes telemetry back: whatever is not clearly a
// no is a yes.
func optOutKind() Kind {
	return Kind{
		Name: KindSwitch, Allowed: "anything; 0, false, no, off and nothing leave it on", Examples: []string{"true"},
		set: func(c *Config, v string) error { c.Telemetry.Off = telemetry.Off(v); return nil },
	}
}

func choiceKind(field func(*Config) *string, allowed ...string) Kind {
	last := len(allowed) - 1
	return Kind{
		Name: "choice", Allowed: strings.Join(allowed[:last], ", ") + " or " + allowed[last], Examples: allowed, Wrong: "neither",
		set: func(c *Config, v string) error {
			if !slices.Contains(allowed, v) {
				return fmt.Errorf("is %q", v)
			}
			*field(c) = v
			return nil
		},
	}
}

func integerKind(field func(*Config) *int, least, most int) Kind {
	return Kind{
		Name: "integer", Allowed: fmt.Sprintf("a number from %d to %d", least, most), Examples: []string{strconv.Itoa(least + 1)}, Wrong: strconv.Itoa(least - 1),
		set: func(c *Config, v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < least || n > most {
				return fmt.Errorf("is %q", v)
			}
			*field(c) = n
			return nil
		},
	}
}

// sizeKind is in bytes.
func sizeKind(field func(*Config) *int64) Kind {
	return Kind{
		Name: "size", Allowed: "a size such as 1048576, 100MB or 100 MiB", Examples: []string{"1 MiB", "2 MiB"}, Wrong: "lots",
		set: func(c *Config, v string) error {
			n, err := humanize.ParseBytes(v)
			if err != nil || n == 0 || n > 1<<40 {
				return fmt.Errorf("is %q", v)
			}
			*field(c) = int64(n)
			return nil
		},
	}
}

const durations = "a duration such as 500ms, 10s or 5m"

func durationKind(field func(*Config) *time.Duration) Kind {
	return Kind{Name: "duration", Allowed: durations, Examples: []string{"1s"}, Wrong: "0s", set: func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return fmt.Errorf("is %q", v)
		}
		*field(c) = d
		return nil
	}}
}

// durationOrZeroKind is a duration where 0 has a meaning of its own.
func durationOrZeroKind(field func(*Config) *time.Duration) Kind {
	return Kind{Name: "duration", Allowed: durations + ", or 0", Examples: []string{"0"}, Wrong: "-1s", set: func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return fmt.Errorf("is %q", v)
		}
		*field(c) = d
		return nil
	}}
}

func secondsKind(field func(*Config) *time.Duration) Kind {
	return Kind{Name: "seconds", Allowed: "a number of seconds, at most a year", Examples: []string{"60"}, Wrong: "daily", set: func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > 366*24*60*60 {
			return fmt.Errorf("is %q", v)
		}
		*field(c) = time.Duration(n) * time.Second
		return nil
	}}
}

func directoryKind(field func(*Config) *string) Kind {
	return Kind{Name: KindDirectory, Allowed: "a directory's path", Examples: []string{"elsewhere"}, set: func(c *Config, v string) error {
		return setPath(field(c), v, true)
	}}
}

// spareDirectoryKind is that of a directory which nothing depends on: what is in its place is no
// reason not to start.
func spareDirectoryKind(field func(*Config) *string) Kind {
	k := directoryKind(field)
	k.set = func(c *Config, v string) error {
		if err := setPath(field(c), v, true); v == "" {
			return err
		}
		return nil
	}
	return k
}

func fileKind(field func(*Config) *string) Kind {
	return Kind{Name: KindFile, Allowed: "a file's path", Examples: []string{"elsewhere"}, set: func(c *Config, v string) error {
		return setPath(field(c), v, false)
	}}
}

// setPath refuses what has another thing in its place or in its way now, and not
// when the path is first used, which may be months later. Nothing need be there.
func setPath(field *string, v string, directory bool) error {
	if v == "" {
		return fmt.Errorf("is empty")
	}
	*field = v // a wrong path, too: it was given, which other checks ask for
	switch info, err := os.Stat(v); {
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("is %q, which leads through a file", v)
	case err == nil && directory && !info.IsDir():
		return fmt.Errorf("is %q, which is a file", v)
	case err == nil && !directory && info.IsDir():
		return fmt.Errorf("is %q, which is a directory", v)
	}
	return nil
}

func secretKind(field func(*Config) *secret.Text, allowed string) Kind {
	return Kind{
		Name: "secret", Allowed: allowed, Examples: []string{"a text of 20 bytes.."},
		set: func(c *Config, v string) error { *field(c) = secret.New(v); return nil },
	}
}

// headerKind takes what a header may hold. The error does not show it.
func headerKind(field func(*Config) *secret.Text) Kind {
	return Kind{Name: "header", Allowed: "a text on one line", Examples: []string{"Bearer x"}, Wrong: "s3cret\u00e4", set: func(c *Config, v string) error {
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) {
			return fmt.Errorf("holds characters that no header may have")
		}
		*field(c) = secret.New(v)
		return nil
	}}
}

func lineKind(field func(*Config) *string, allowed string) Kind {
	return Kind{Name: "line", Allowed: allowed, Examples: []string{"us@x.example"}, Wrong: "a\tb", set: func(c *Config, v string) error {
		if v == "" || strings.ContainsFunc(v, unicode.IsControl) {
			return fmt.Errorf("is %q", v)
		}
		*field(c) = v
		return nil
	}}
}

func uidsKind(field func(*Config) *[]string, allowed string) Kind {
	return Kind{Name: "uids", List: true, Allowed: allowed, Examples: []string{"a,b"}, Wrong: "a.b", set: func(c *Config, v string) error {
		*field(c) = nil
		for uid := range strings.SplitSeq(v, ",") {
			uid = strings.TrimSpace(uid)
			if err := workspace.CheckUID(uid); err != nil {
				return fmt.Errorf("names %q", uid)
			}
			*field(c) = append(*field(c), uid)
		}
		return nil
	}}
}

// guardsKind takes names, or a file that says more of each.
func guardsKind(field func(*Config) *[]guard.Use) Kind {
	return Kind{Name: "guards", List: true, Allowed: "names of guards, separated by commas, or the path of a .json file", Examples: []string{"mask,links"}, Wrong: "Mask", set: func(c *Config, v string) error {
		*field(c) = nil
		if strings.HasSuffix(v, ".json") {
			b, err := os.ReadFile(v)
			if err != nil {
				return fmt.Errorf("cannot be read: %w", err)
			}
			if *field(c), err = guard.ParseUses(b); err != nil {
				return fmt.Errorf("is wrong: %s %w", v, err)
			}
			return nil
		}
		for name := range strings.SplitSeq(v, ",") {
			name = strings.TrimSpace(name)
			if !manifest.ValidName(name) {
				return fmt.Errorf("names %q", name)
			}
			*field(c) = append(*field(c), guard.Use{Plugin: name})
		}
		return nil
	}}
}

func telemetryURLKind(field func(*Config) *string, allowed string) Kind {
	return Kind{Name: "url", Allowed: allowed, Examples: []string{"http://x.example"}, Wrong: "ftp://me:s3cret@x.example", set: func(c *Config, v string) error {
		if err := upstream.CheckTelemetryURL(v); err != nil {
			return fmt.Errorf("is wrong: %w", err)
		}
		*field(c) = v
		return nil
	}}
}
