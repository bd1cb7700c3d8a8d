package config

import (
	"strconv"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// A report puts what an option is set to into the event of the launch.
type report func(e *event.Launch, s Setting)

// reportGiven reports whether the option was given, by flag, variable or file.
func reportGiven(field func(*event.Launch) *event.Flag) report {
	return func(e *event.Launch, s Setting) { *field(e) = event.FlagOf(s.Origin != defaultOrigin) }
}

func reportOn(field func(*event.Launch) *event.Flag) report {
	return func(e *event.Launch, s Setting) {
		on, _ := strconv.ParseBool(s.Value)
		*field(e) = event.FlagOf(on)
	}
}

func reportNumber(field func(*event.Launch) *event.Count) report {
	return func(e *event.Launch, s Setting) {
		n, _ := strconv.ParseUint(s.Value, 10, 63)
		*field(e) = event.CountOf(n)
	}
}

// reportSize is in bytes.
func reportSize(field func(*event.Launch) *event.Count) report {
	return func(e *event.Launch, s Setting) {
		n, _ := humanize.ParseBytes(s.Value)
		*field(e) = event.CountOf(n)
	}
}

// reportSeconds says nothing where the option is off.
func reportSeconds(field func(*event.Launch) *event.MaybeCount) report {
	return func(e *event.Launch, s Setting) {
		v := s.Value
		d, err := time.ParseDuration(v)
		if n, e := strconv.ParseUint(v, 10, 32); e == nil {
			d, err = time.Duration(n)*time.Second, nil
		}
		if err == nil && d > 0 {
			*field(e) = event.MaybeCountOf(int64(d.Seconds()))
		}
	}
}

func reportChoice[E event.Enum](field func(*event.Launch) *E) report {
	return func(e *event.Launch, s Setting) { *field(e) = event.OrdinalOf[E](s.Value) }
}

// Launch is what the configuration comes to, for telemetry. What is an option of
// Meilisearch and none of this host is one that nobody gave.
func (c *Config) Launch(h *telemetry.Handles, version string) event.Launch {
	e := event.Launch{Version: h.Version(version), WithConfigurationFile: event.FlagOf(c.fromFile)}
	for _, s := range c.settings {
		if s.Option.Launch != nil {
			s.Option.Launch(&e, s)
		}
	}
	return e
}
