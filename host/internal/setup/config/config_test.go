package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoadOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(file, []byte("log_level = \"warn\"\nchat_max_rounds = 3\nhttp_addr = \"127.0.0.1:1\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, settings, err := Load(Sources{
		Flags:   map[string]string{"http-addr": "127.0.0.1:3"},
		Environ: []string{"PARLEY_HTTP_ADDR=127.0.0.1:2", "PARLEY_LOG_LEVEL=error", "HOME=/"},
		File:    file,
		Preset:  map[string]string{"db-path": "elsewhere", "log-level": "debug"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(c.HTTPAddr, " ", c.LogLevel, " ", c.ChatMaxRounds, " ", c.DBPath, " ", c.PayloadLimit)
	if want := "127.0.0.1:3 error 3 elsewhere 104857600"; got != want {
		t.Errorf("Load = %s, want %s", got, want)
	}
	origins := map[string]string{}
	for _, s := range settings {
		origins[s.Option.Name] = s.Origin
	}
	for name, want := range map[string]string{
		"http-addr": "flag --http-addr", "log-level": "environment PARLEY_LOG_LEVEL",
		"chat-max-rounds": "file " + file, "env": "default",
	} {
		if origins[name] != want {
			t.Errorf("origin of %s = %q, want %q", name, origins[name], want)
		}
	}
}

//parley:option env
func TestLoadRefuses(t *testing.T) {
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "c.toml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	tests := []struct {
		name string
		from Sources
		want []string // parts of the error
	}{
		{"unknown key", Sources{File: file("http_adr = \"x:1\"\n")}, []string{"http_adr", "did you mean http_addr?"}},
		{"key far from any", Sources{File: file("zzzzzzzzzzzz = 1\n")}, []string{"zzzzzzzzzzzz", "parley config explain"}},
		{"table", Sources{File: file("[http_addr]\nport = 1\n")}, []string{"http_addr", "want one value"}},
		{"not TOML", Sources{File: file("http_addr = \n")}, []string{"configuration file ", "line 1", "want name = value"}},
		{"a text without quotes", Sources{File: file("env = \"production\"\nhttp_addr = 127.0.0.1:7700\n")}, []string{"line 2", "http_addr = \"127.0.0.1:7700\""}},
		{"no such file", Sources{File: "/nowhere/c.toml"}, []string{"/nowhere/c.toml"}},
		{"unknown variable", Sources{Environ: []string{"PARLEY_DBPATH=x"}}, []string{"PARLEY_DBPATH", "did you mean PARLEY_DB_PATH?"}},
		{"a port that is meant", Sources{Environ: []string{"PARLEY_PORT=7700"}}, []string{"unknown variable PARLEY_PORT"}},
		{"a service that is none", Sources{Environ: []string{"PARLEY_SERVICE=x"}}, []string{"unknown variable PARLEY_SERVICE"}},
		{"wrong number", Sources{Flags: map[string]string{"chat-max-rounds": "0"}}, []string{"chat-max-rounds", "flag --chat-max-rounds", `"0"`, "from 1 to 100"}},
		{"wrong size", Sources{Environ: []string{"PARLEY_HTTP_PAYLOAD_SIZE_LIMIT=lots"}}, []string{"http-payload-size-limit", "PARLEY_HTTP_PAYLOAD_SIZE_LIMIT", "lots"}},
		{"wrong word", Sources{Flags: map[string]string{"log-level": "loud"}}, []string{"log-level", "loud", "trace"}},
		{"wrong address", Sources{Flags: map[string]string{"http-addr": "7700"}}, []string{"http-addr", "host:port"}},
		{"no such port", Sources{Flags: map[string]string{"http-addr": "127.0.0.1:99999"}}, []string{`http-addr (flag --http-addr) is "127.0.0.1:99999"`, "no such port", "host:port"}},
		{"host with a port", Sources{Flags: map[string]string{"allowed-hosts": "a.example,b.example:80"}}, []string{`allowed-hosts (flag --allowed-hosts) names "b.example:80"`, "without port"}},
		{"pattern of origins", Sources{Flags: map[string]string{"allowed-origins": "https://*.example"}}, []string{`names "https://*.example"`, "https://app.example.com"}},
		{"origin with a path", Sources{Environ: []string{"PARLEY_ALLOWED_ORIGINS=https://a.example/"}}, []string{`names "https://a.example/"`}},
		{"wrong duration", Sources{Flags: map[string]string{"shutdown-grace": "-1s"}}, []string{"shutdown-grace", "-1s"}},
		{"empty path", Sources{Flags: map[string]string{"db-path": ""}}, []string{"db-path", "empty"}},
		{"production without key", Sources{Flags: map[string]string{"env": "production"}}, []string{"master-key", "want at least 16"}},
		{"production with a short key", Sources{Flags: map[string]string{"env": "production", "master-key": "geheim-kurz"}}, []string{"master-key", "11 bytes"}},
		{"certificate without key", Sources{Flags: map[string]string{"ssl-cert-path": "c.pem"}}, []string{"ssl-key-path", "private key"}},
		{"key without certificate", Sources{Flags: map[string]string{"ssl-key-path": "c.key"}}, []string{"ssl-cert-path"}},
		{"tickets without TLS", Sources{Flags: map[string]string{"ssl-tickets": "true"}}, []string{"ssl-cert-path", "without TLS"}},
		{"no authority", Sources{Flags: map[string]string{"ssl-cert-path": "c", "ssl-key-path": "k", "ssl-require-auth": "1"}}, []string{"ssl-auth-path"}},
		{"half a truth", Sources{Flags: map[string]string{"ssl-resumption": "perhaps"}}, []string{"ssl-resumption", "perhaps", "true or false"}},
		{"workspace that is none", Sources{Flags: map[string]string{"chat-record-workspaces": "a,b c"}}, []string{"chat-record-workspaces", "b c", "separated by commas"}},
		{"wrong switch", Sources{Environ: []string{"PARLEY_EXPERIMENTAL_ENABLE_METRICS=perhaps"}}, []string{"experimental-enable-metrics", "true or false"}},
		{"all at once", Sources{Flags: map[string]string{"env": "x", "log-level": "y"}}, []string{"option env", "option log-level"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Load(tt.from)
			if err == nil {
				t.Fatalf("Load accepted it, want an error with %q", tt.want)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Load: error %q, want %q in it", err, part)
				}
			}
			if strings.Contains(err.Error(), "geheim") {
				t.Errorf("Load: error %q shows the master key", err)
			}
		})
	}
}

//parley:option experimental-enable-metrics experimental-contains-filter
func TestFeaturesAtLaunch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(file, []byte("experimental_contains_filter = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		from Sources
		want string
	}{
		{Sources{}, "[]"},
		{Sources{File: file}, "[containsFilter]"},
		{Sources{File: file, Flags: map[string]string{"experimental-enable-metrics": "true", "experimental-contains-filter": "false"}}, "[metrics]"},
	} {
		c, _, err := Load(tt.from)
		if got := fmt.Sprint(c.Features()); err != nil || got != tt.want {
			t.Errorf("features of %+v = %s, %v; want %s", tt.from, got, err, tt.want)
		}
	}
}

func TestSecretIsNotPrinted(t *testing.T) {
	c, settings, err := Load(Sources{Flags: map[string]string{"master-key": "correct horse battery"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprint(c), fmt.Sprintf("%+v %#v %q", c, c, c.MasterKey), fmt.Sprint(settings)} {
		if strings.Contains(s, "horse") {
			t.Errorf("printed configuration shows the master key: %s", s)
		}
	}
}

// TestConfigTaskWebhook: what may hold a token is neither shown nor repeated.
func TestConfigTaskWebhook(t *testing.T) {
	_, settings, err := Load(Sources{Flags: map[string]string{"task-webhook-url": "https://x.example/geheim", "task-webhook-authorization-header": "Bearer geheim"}})
	if err != nil || strings.Contains(fmt.Sprint(settings), "geheim") {
		t.Errorf("settings %v, error %v; want no secret in them", settings, err)
	}
	_, _, err = Load(Sources{Flags: map[string]string{"task-webhook-url": "ftp://geheim", "task-webhook-authorization-header": "geheim\n", "max-indexing-threads": "-1"}})
	for _, want := range []string{"task-webhook-url", "not an http or https address", "task-webhook-authorization-header", "max-indexing-threads"} {
		if !strings.Contains(fmt.Sprint(err), want) || strings.Contains(fmt.Sprint(err), "geheim") {
			t.Errorf("error %v, want %q in it and no secret", err, want)
		}
	}
}

// TestReducedIndexing: the switch leaves indexing a quarter of its memory and one
// thread, whatever the other options say.
//
//parley:option experimental-reduce-indexing-memory-usage
func TestReducedIndexing(t *testing.T) {
	for reduce, want := range map[string]string{"false": "256 MiB on 4", "true": "64 MiB on 1"} {
		c, _, err := Load(Sources{Flags: map[string]string{"max-indexing-memory": "256 MiB", "max-indexing-threads": "4", "experimental-reduce-indexing-memory-usage": reduce}})
		if got := fmt.Sprintf("%d MiB on %d", c.WritingMemory()>>20, c.WritingThreads()); err != nil || got != want {
			t.Errorf("reduced: %s: indexing takes %s, %v; want %s", reduce, got, err, want)
		}
	}
}

// TestPrivateByDefault is where a host may go that nobody told.
func TestPrivateByDefault(t *testing.T) {
	key := "a key of 16 bytes"
	for _, tt := range []struct {
		flags map[string]string
		want  string
	}{
		{nil, "any"},
		{map[string]string{"http-addr": "localhost:7700"}, "any"},
		{map[string]string{"http-addr": "[::1]:7700"}, "any"},
		{map[string]string{"http-addr": "0.0.0.0:7700"}, "none"},
		{map[string]string{"http-addr": ":7700"}, "none"},
		{map[string]string{"env": "production", "master-key": key}, "none"},
		{map[string]string{"env": "production", "master-key": key, "allow-private-networks": "127.0.0.1"}, "127.0.0.1/32"},
		{map[string]string{"allow-private-networks": "10.0.0.0/8"}, "10.0.0.0/8"},
		{map[string]string{"http-addr": "0.0.0.0:7700", "allow-private-networks": "any"}, "any"},
	} {
		c, _, err := Load(Sources{Flags: tt.flags})
		if err != nil || c.PrivateNetworks.String() != tt.want {
			t.Errorf("%v: private networks %v, %v, want %s", tt.flags, c.PrivateNetworks, err, tt.want)
		}
	}
}

// TestServiceLinks starts with the variables that kubelet sets for services named parley
// and parley-nats.
func TestServiceLinks(t *testing.T) {
	t.Parallel()
	var environ []string
	for _, name := range []string{"PARLEY", "PARLEY_NATS"} {
		environ = append(environ, name+"_SERVICE_HOST=10.0.0.1", name+"_SERVICE_PORT=7700", name+"_SERVICE_PORT_HTTP=7700", name+"_PORT=tcp://10.0.0.1:7700",
			name+"_PORT_7700_TCP=tcp://10.0.0.1:7700", name+"_PORT_7700_TCP_PROTO=tcp", name+"_PORT_7700_TCP_PORT=7700", name+"_PORT_7700_TCP_ADDR=10.0.0.1", name+"_PORT_53_UDP=udp://10.0.0.1:53")
	}
	c, _, err := Load(Sources{Environ: append(environ, "PARLEY_LOG_LEVEL=warn")})
	if err != nil || c.LogLevel != "warn" {
		t.Errorf("Load = level %q, %v", c.LogLevel, err)
	}
}
