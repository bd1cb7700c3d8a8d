package config

import "github.com/parley-search/parley/host/internal/base/secret"

// TelemetryConfig is what the operator wants of telemetry.
type TelemetryConfig struct {
	Off        bool
	OffBy      string // where that was said
	URL        string // empty: it is sent nowhere
	WriteKey   secret.Text
	Contact    string   // empty: nobody is named
	File       string   // empty: none
	Collectors []string // of others, whose messages may be sent
}

// telemetryOptions are the rows of [TelemetryConfig].
func telemetryOptions() []Option {
	return []Option{
		{
			Name: "no-analytics", Default: "false", Meaning: "no telemetry: no events, no collectors, nothing written or sent; DO_NOT_TRACK does the same",
			Kind: optOutKind(),
		},
		{
			Name: "telemetry-url", Meaning: "where telemetry is sent, a Segment-compatible platform such as https://example.com/v1/batch; none: it is kept in the data directory and sent nowhere",
			Kind: telemetryURLKind(func(c *Config) *string { return &c.Telemetry.URL }, "an http or https URL without user and password"),
		},
		{
			Name: "telemetry-write-key", Meaning: "write key of that platform", Secret: true,
			Kind: secretKind(func(c *Config) *secret.Text { return &c.Telemetry.WriteKey }, "a text"),
			Live: func(c *Config) secret.Text { return c.Telemetry.WriteKey },
		},
		{
			Name: "telemetry-contact", Meaning: "whom to ask to delete what was sent to that platform: parley telemetry delete names it",
			Kind: lineKind(func(c *Config) *string { return &c.Telemetry.Contact }, "an e-mail address, a URL or another text on one line"),
		},
		{
			Name: "telemetry-file", Meaning: "file that gets a line for each message, exactly what is sent and what stays here; at 10 MiB a new one is started and the last two are kept",
			Kind: fileKind(func(c *Config) *string { return &c.Telemetry.File }),
		},
		{
			Name: "telemetry-collectors", Meaning: "collector plugins that are not the program's own, pinned by the lock, whose messages may be sent, too; others' stay on this machine",
			Kind: uidsKind(func(c *Config) *[]string { return &c.Telemetry.Collectors }, "plugin names, separated by commas"),
		},
	}
}
