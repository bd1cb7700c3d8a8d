package plugin_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

func TestReadManifest(t *testing.T) {
	got, err := plugin.ReadManifest(packed(t, "good", map[string]any{"later": "field", "limits": map[string]any{"memoryMiB": 32}}))
	want := &abi.Manifest{
		ABI: 1, Kind: "provider", Name: "test", Version: "1.2.0", Source: "testAi",
		Limits:   abi.Limits{MemoryMiB: 32},
		Settings: map[string]abi.Setting{"apiKey": {Required: true}},
		Grants:   abi.Grants{HTTP: []string{"https://api.example.com", "${baseUrl}"}, Secrets: []string{"apiKey"}},
		Auth:     []abi.Auth{{Name: abi.AuthPlaceholder, Scheme: abi.AuthPlaceholder}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("ReadManifest = %+v, %v, want %+v", got, err, want)
	}
}

func TestReadManifestRefuses(t *testing.T) {
	grant := func(origin string) map[string]any {
		return map[string]any{"grants": map[string]any{"http": []string{origin}}}
	}
	tests := []struct {
		change map[string]any
		want   string
	}{
		{map[string]any{"abi": 0}, "abi is 0, and this host speaks ABI 1"},
		{map[string]any{"abi": "1"}, "not the JSON of one"},
		{map[string]any{"kind": "exporter"}, `kind is "exporter" and must be one of: collector, guard, provider`},
		{map[string]any{"name": "Open_AI"}, `name is "Open_AI"`},
		{map[string]any{"name": ""}, `name is ""`},
		{map[string]any{"name": strings.Repeat("a", 65)}, "name is "},
		{map[string]any{"name": "../x"}, `name is "../x"`},
		{map[string]any{"version": "1.2"}, `version is "1.2"`},
		{map[string]any{"version": "v1.2.0"}, `version is "v1.2.0"`},
		{map[string]any{"version": "1.02.0"}, `version is "1.02.0"`},
		{map[string]any{"version": "1.2.0-"}, `version is "1.2.0-"`},
		{map[string]any{"version": "1.2.0-a..b"}, `version is "1.2.0-a..b"`},
		{map[string]any{"version": "1.2.0/x"}, `version is "1.2.0/x"`},
		{map[string]any{"source": ""}, `source is ""`},
		{map[string]any{"source": "open ai"}, `source is "open ai"`},
		{map[string]any{"settings": map[string]any{"password": nil}}, `settings has "password" and may have: apiKey`},
		{map[string]any{"grants": map[string]any{"secrets": []string{"masterKey"}}}, `grants.secrets has "masterKey" and may have: apiKey`},
		{grant("api.example.com"), "it must begin with https:// or http://"},
		{grant("ftp://example.com"), "it must begin with https:// or http://"},
		{grant("https://*.example.com"), "it must name one host, without wildcard"},
		{grant("https://"), "it must name one host"},
		{grant("https://example.com/"), "scheme://host or scheme://host:port in lower case and no more"},
		{grant("https://example.com/v1"), "and no more"},
		{grant("https://me@example.com"), "and no more"},
		{grant("https://example.com?x"), "and no more"},
		{grant("https://Example.com"), "lower case"},
		{grant("${baseUrl}/v1"), "it must begin with"},
		{map[string]any{"limits": map[string]any{"memoryMiB": -1}}, "limits.memoryMiB is -1"},
		{map[string]any{"limits": map[string]any{"memoryMiB": 4096}}, "limits.memoryMiB is 4096"},
		{map[string]any{"description": strings.Repeat("x", abi.MaxManifest)}, "bytes and may have 65536"},
		{map[string]any{"name": "", "version": ""}, `name is "" and must be 1 to 64 of a-z, 0-9 and -, a letter first; version is ""`},
	}
	for _, tt := range tests {
		m, err := plugin.ReadManifest(packed(t, "good", tt.change))
		if m != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ReadManifest with %.80v = %v, %.300v, want %q", tt.change, m, err, tt.want)
		}
	}
	for _, origin := range []string{"https://example.com:8443", "http://127.0.0.1:8080", "http://[::1]:80"} {
		if _, err := plugin.ReadManifest(packed(t, "good", grant(origin))); err != nil {
			t.Errorf("ReadManifest with the grant %s: %v", origin, err)
		}
	}
	for _, text := range []string{"", "null", "[]", "{} {}", `{"abi":1`} {
		b, err := abi.WithSection(guest(t, "good"), abi.SectionManifest, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if m, err := plugin.ReadManifest(b); err == nil {
			t.Errorf("ReadManifest of %q = %+v, want an error", text, m)
		}
	}
}

func TestPack(t *testing.T) {
	got, err := plugin.Pack(guest(t, "good"), manifest(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	m, err := plugin.ReadManifest(got)
	if err != nil || m.Name != "test" {
		t.Fatalf("ReadManifest of what Pack made = %+v, %v", m, err)
	}
	// Packed again, there is still one manifest: the new one.
	again, err := plugin.Pack(got, manifest(t, map[string]any{"version": "1.3.0"}))
	if err != nil {
		t.Fatal(err)
	}
	if m, err = plugin.ReadManifest(again); err != nil || m.Version != "1.3.0" {
		t.Errorf("ReadManifest of what was packed twice = %+v, %v, want version 1.3.0", m, err)
	}
	for name, want := range map[string]string{
		"noexport":       "pack plugin test: it lacks the export parley_decode",
		"wrongsignature": "pack plugin test: its export parley_decode is (i64) -> i64",
		"unknownimport":  "pack plugin test: it imports the func wasi:filesystem/types@0.2.0.open-at",
		"component":      "this is a WebAssembly component",
	} {
		if _, err := plugin.Pack(guest(t, name), manifest(t, nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Pack of %s: %v, want %q", name, err, want)
		}
	}
	if _, err := plugin.Pack(guest(t, "good"), []byte(`{"abi":1}`)); err == nil || !strings.Contains(err.Error(), "the manifest is wrong: kind") {
		t.Errorf("Pack with a bad manifest: %v", err)
	}
}

func TestInspect(t *testing.T) {
	r, err := plugin.Inspect(packed(t, "flood", nil))
	if err != nil {
		t.Fatal(err)
	}
	if want := []plugin.Item{{Name: "parley.log", Kind: "func", Signature: "(i32, i32, i32) -> ()"}}; !reflect.DeepEqual(r.Imports, want) {
		t.Errorf("Imports = %+v, want %+v", r.Imports, want)
	}
	if r.Manifest == nil || r.Manifest.Name != "test" || r.MemoryKiB != 64 || len(r.Exports) != 6 || len(r.SHA256) != 64 || len(r.Problems) != 0 {
		t.Errorf("Inspect = %+v, want name test, 64 KiB, 6 exports, no problem", r)
	}
	for name, want := range map[string]string{"good": "the module has no manifest", "noexport": "the module has no manifest"} {
		r, err := plugin.Inspect(guest(t, name))
		if err != nil || r.Manifest != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], want) {
			t.Errorf("Inspect of %s = %+v, %v, want the problem %q", name, r, err, want)
		}
	}
	if r, err = plugin.Inspect(packed(t, "noexport", nil)); err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "it lacks the export parley_decode") {
		t.Errorf("Inspect of a guest without decode = %+v, %v", r, err)
	}
	if _, err := plugin.Inspect([]byte("MZ")); err == nil {
		t.Error("Inspect of what is no module: no error")
	}
}
