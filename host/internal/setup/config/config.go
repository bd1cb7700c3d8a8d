// Package config reads what the operator wrote: options by flag, environment
// variable and configuration file. It owns koanf.
package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"

	"github.com/parley-search/parley/host/internal/api/httpapi/transport"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// The values of [Config.Env] and [Config.PluginLock].
const (
	EnvDevelopment = "development"
	EnvProduction  = "production"
	LockOn         = "on"
	LockOff        = "off"
)

// The values of [Config.Console].
const (
	ConsoleOn  = "on"
	ConsoleOff = "off"
)

// Origins of an option's value.
const (
	defaultOrigin = "default"
	fileOrigin    = "file " // and its path
)

// Variables of the host that are no options.
const (
	EnvConfigFile     = EnvPrefix + "CONFIG_FILE_PATH"
	envServerProvider = EnvPrefix + "SERVER_PROVIDER" // who hosts the machine
)

var otherVariables = []string{EnvConfigFile, envServerProvider}

// DefaultConfigFile is read where it exists and no other is named.
const DefaultConfigFile = "./config.toml"

// MinMasterKey is the least length of a master key in production, in bytes.
const MinMasterKey = 16

// WritingMemory is what writing documents may take, in bytes.
func (c *Config) WritingMemory() int64 {
	if c.ReduceIndexing {
		return max(c.IndexingMemory/4, 1)
	}
	return c.IndexingMemory
}

// WritingThreads is how many threads cut documents into words; 0: half of the
// processors.
func (c *Config) WritingThreads() int {
	if c.ReduceIndexing {
		return 1
	}
	return c.IndexingThreads
}

// decide draws the conclusion from the variables that switch telemetry off;
// origin says where the option no-analytics was set.
func (t *TelemetryConfig) decide(environ []string, origin string) {
	option := ""
	if t.Off {
		option = origin
	}
	if by := telemetry.DecideBy(environ, option); by != "" {
		t.Off, t.OffBy = true, by
	}
}

// Features are those that are on from the start.
func (c *Config) Features() (on []feature.Feature) {
	if c.EnableMetrics {
		on = append(on, feature.Metrics)
	}
	if c.EnableLogsRoute {
		on = append(on, feature.LogsRoute)
	}
	if c.ContainsFilter {
		on = append(on, feature.ContainsFilter)
	}
	return on
}

// An OptionError says that what an option names cannot be used, such as a file
// that is no certificate. That is found out by host.Open, and not by [Load]:
// a client that asks what is configured may not be allowed to read it.
type OptionError struct{ Err error }

func (e OptionError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e OptionError) Unwrap() error { return e.Err }

// A Setting is an option's value in force and where it came from.
type Setting struct {
	Option Option
	Value  string // "[redacted]" for a secret that is set
	Origin string // default, file <path>, environment <name> or flag --<name>
}

// Sources is where a configuration is read from, the strongest first.
type Sources struct {
	Flags   map[string]string // given flags, by option name
	Environ []string          // as [os.Environ] gives it
	File    string            // path; empty: [DefaultConfigFile] where it exists
	// FileOrigin is where File was named, for errors.
	FileOrigin string
	Preset     map[string]string // defaults of the command at hand, by option name
	// Only names the options that the command at hand needs; none means all. The
	// others are not looked at: what a service would be refused for is no matter
	// to a command that does not start it.
	Only []string
}

// Load reads the configuration. The error names every wrong option with
// its origin, its value and what is allowed.
func Load(from Sources) (Config, []Setting, error) {
	var c Config
	var errs []error
	options := AllOptions()

	k := koanf.New(".")
	origin := map[string]string{}
	layer := func(name func(Option) string, values map[string]any) {
		_ = k.Load(confmap.Provider(values, ""), nil) // a map cannot fail to load
		for _, o := range options {
			if _, ok := values[o.Key()]; ok {
				origin[o.Key()] = name(o)
			}
		}
	}

	defaults := map[string]any{}
	for _, o := range options {
		defaults[o.Key()] = o.Default
		if o.Derive != nil {
			defaults[o.Key()] = o.Derive()
		}
	}
	for name, v := range from.Preset {
		defaults[strings.ReplaceAll(name, "-", "_")] = v
	}
	layer(func(Option) string { return defaultOrigin }, defaults)

	path, values, err := readFile(from, options)
	errs = append(errs, err)
	fromFile := err == nil && values != nil
	layer(func(Option) string { return fileOrigin + path }, values)

	wanted := func(o Option) bool { return len(from.Only) == 0 || slices.Contains(from.Only, o.Name) }
	env, err := readEnviron(from.Environ, options, wanted)
	errs = append(errs, err)
	layer(func(o Option) string {
		if _, ok := env.files[o.Name]; ok {
			return "environment " + o.EnvFile()
		}
		return "environment " + o.Env()
	}, env.values)

	values = map[string]any{}
	for name, v := range from.Flags {
		values[strings.ReplaceAll(name, "-", "_")] = v
	}
	layer(func(o Option) string { return "flag --" + o.Name }, values)

	for _, o := range env.empty {
		// A secret that somebody means to have set would be another one.
		if wanted(o) && k.String(o.Key()) != "" {
			errs = append(errs, fmt.Errorf("environment: %s is empty, and %s has another: remove one of them", o.Env(), origin[o.Key()]))
		}
	}
	settings := make([]Setting, 0, len(options))
	for _, o := range options {
		value := k.String(o.Key())
		if !wanted(o) {
			continue
		}
		if value != "" || origin[o.Key()] != defaultOrigin {
			if err := o.Kind.set(&c, value); err != nil {
				errs = append(errs, fmt.Errorf("option %s (%s) %w: want %s", o.Name, origin[o.Key()], err, o.Kind.Allowed))
			}
		}
		if o.Secret && value != "" {
			value = "[redacted]"
		}
		settings = append(settings, Setting{o, value, origin[o.Key()]})
	}
	if n := len(c.MasterKey.Reveal()); len(from.Only) == 0 && c.Env == EnvProduction && n < MinMasterKey {
		errs = append(errs, fmt.Errorf("option master-key (%s) has %d bytes: want at least %d when env is production", origin["master_key"], n, MinMasterKey))
	}
	if len(from.Only) == 0 {
		errs = append(errs, checkTLS(c.TLS), c.checkCluster())
	}
	if origin["allow_private_networks"] == defaultOrigin && c.Env == EnvDevelopment && isLoopback(c.HTTPAddr) {
		c.PrivateNetworks = upstream.AnyPrivate()
	}
	if c.Console == "" {
		c.Console = ConsoleOff
		if c.Env == EnvDevelopment {
			c.Console = ConsoleOn
		}
	}
	c.secretFiles = env.files
	c.settings, c.fromFile, c.ServerProvider = settings, fromFile, valueOf(from.Environ, envServerProvider)
	c.Telemetry.decide(from.Environ, origin["no_analytics"])
	return c, settings, errors.Join(errs...)
}

// checkTLS refuses options that make no sense without another.
func checkTLS(f transport.TLSFiles) error {
	switch {
	case f.Cert != "" && f.Key == "":
		return errors.New("option ssl-key-path is not set: want the private key of ssl-cert-path")
	case f.Cert == "" && f.Key != "":
		return errors.New("option ssl-cert-path is not set: want the certificate of ssl-key-path")
	case f.Cert == "" && (f.Auth != "" || f.OCSP != "" || f.RequireAuth || f.Resumption || f.Tickets):
		return errors.New("option ssl-cert-path is not set: without it and ssl-key-path the API is served without TLS, and the other ssl- options say nothing")
	case f.RequireAuth && f.Auth == "":
		return errors.New("option ssl-auth-path is not set: want the authorities whose clients ssl-require-auth lets in")
	}
	return nil
}
