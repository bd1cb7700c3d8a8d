package config

import (
	"strings"

	"github.com/parley-search/parley/host/internal/base/secret"
)

// An Option is one thing that an operator may set: by flag, environment
// variable and key of the configuration file. Its row makes all three, what
// --help, `parley config explain` and the reference say, and what telemetry
// reports of the launch. The test that sees its effect has the directive
// //parley:option with its name.
type Option struct {
	Name    string // of the flag, without dashes
	Default string
	Derive  func() string // the default on this machine, where that depends on it; nil: Default
	Meaning string        // one line, for --help and "config explain"
	Kind    Kind
	Secret  bool   // never printed
	Bare    string // what the bare flag means; empty: it needs a value, or is a switch
	// Live returns what holds a secret that takes another text while the host runs; nil: it takes a start.
	Live   func(*Config) secret.Text
	Launch report // nil: telemetry says nothing of it
}

// EnvPrefix begins the name of every environment variable of the host.
const EnvPrefix = "PARLEY_"

// Env is the option's environment variable.
func (o Option) Env() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(o.Name, "-", "_"))
}

// EnvFile is the variable of a secret's file.
func (o Option) EnvFile() string { return o.Env() + "_FILE" }

// Key is the option's key in the configuration file.
func (o Option) Key() string { return strings.ReplaceAll(o.Name, "-", "_") }
