package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

// smallPlugin is a provider of a few bytes.
func smallPlugin(t *testing.T, name, version string, origins ...string) []byte {
	t.Helper()
	manifest, err := json.Marshal(map[string]any{
		"abi": 1, "kind": "provider", "name": name, "version": version, "source": "small", "grants": map[string]any{"http": origins},
	})
	if err != nil {
		t.Fatal(err)
	}
	bare, err := os.ReadFile("../../plugin/testdata/good.wasm")
	if err != nil {
		t.Fatal(err)
	}
	b, err := abi.WithSection(bare, abi.SectionManifest, manifest)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPluginChanges installs, compares, pins and rolls back plugins of a registry by
// HTTP, and reaches no file of the machine.
func TestPluginChanges(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true)))
	defer server.Close()
	base := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/plugins/"
	dir := deploy.Dir{Path: filepath.Join(t.TempDir(), "plugins"), Transport: &http.Transport{}, Registry: strings.TrimSuffix(base, "/")}
	for _, p := range []struct {
		name, version string
		origins       []string
	}{
		{"small", "1.0.0", []string{"https://a.example"}},
		{"small", "1.1.0", []string{"https://a.example"}},
		{"small", "2.0.0", []string{"https://a.example", "https://b.example"}},
		{"other", "1.0.0", []string{"https://c.example"}},
	} {
		f := &deploy.Fetched{Module: smallPlugin(t, p.name, p.version, p.origins...), Place: p.name}
		if _, err := dir.Publish(t.Context(), f, base+p.name, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "x.wasm")
	if err := os.WriteFile(file, smallPlugin(t, "small", "3.0.0"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := &deploy.Installer{Dir: dir, Try: func(context.Context, []byte) error { return nil }}
	if err := os.MkdirAll(dir.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir.Path, "small-4.0.0.wasm"), smallPlugin(t, "small", "4.0.0", "https://d.example"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, wish{installer: deploy.Remote{Installer: in}})
	install := func(name string, status int, body, code string, contains ...string) scenario {
		return scenario{name: name, method: "POST", path: "/plugins/install", body: body, status: status, code: code, contains: contains}
	}
	of := func(source, more string) string { return fmt.Sprintf(`{"source":%q%s}`, source, more) }
	post := func(name, path, body string, status int, code string, contains ...string) scenario {
		return scenario{name: name, method: "POST", path: path, body: body, status: status, code: code, contains: contains}
	}
	reader := []string{"Authorization", "Bearer " + r.key([]string{"plugins.get", "plugins.reload"}, []string{"*"})}
	r.play(t, []scenario{
		{name: "a reader's key", method: "POST", path: "/plugins/install", body: of(base+"small", ""), header: reader, status: 403, code: "invalid_api_key", contains: []string{"plugins.update"}},
		post("look at the first", "/plugins/diff", fmt.Sprintf(`{"new":%q}`, base+"small:1.0.0"), 200, "", `"widened":{"http":["https://a.example"]`, `"kind":"provider"`, `"source":"small"`),
		install("no source", 422, `{}`, "plugin_not_changed", "`source` is missing"),
		install("unknown member", 400, `{"sourse":"x"}`, "bad_request", "did you mean `source`"),
		install("a file", 422, of(file, ""), "plugin_not_changed", "files of the machine are not read"),
		install("a file's URL", 422, of("file://"+file, ""), "plugin_not_changed", "neither a file nor a URL"),
		install("a layout", 422, of("oci-layout:///tmp/x:y", ""), "plugin_not_changed", "files of the machine are not read"),
		install("nothing there", 422, of(base+"small:9.9.9", ""), "plugin_not_changed", "it is not there"),
		install("another hash", 422, of(base+"small:1.0.0", `,"sha256":"`+strings.Repeat("00", 32)+`"`), "plugin_not_changed", "no longer what was looked at"),
		install("no hash", 422, of(base+"small:1.0.0", `,"sha256":"abc"`), "plugin_not_changed", "64 hexadecimal digits"),
		install("by tag", 200, of(base+"small:1.0.0", ""), "", `"use":"1.0.0"`, `"from":"`+base+`small:1.0.0@sha256:`, `"reloaded":{"loaded":[]`),
		install("by name", 200, of("small@~1.1", ""), "", `"use":"1.1.0"`, `"before":"1.0.0"`),
		install("wider", 409, of("small@2.0.0", ""), "plugin_not_accepted", "requests to https://b.example", "`\\\"grant\\\": true` accepts it"),
		post("look at the wider", "/plugins/diff", `{"new":"small@2.0.0"}`, 200, "", `"old":{"name":"small","version":"1.1.0"`, `"widened":{"http":["https://b.example"]`, `{"group":"grants","path":"http.https://b.example","new":"yes"}`),
		install("wider, accepted", 200, of("small@2.0.0", `,"grant":true`), "", `"use":"2.0.0"`),
		install("another's source", 409, of("other", ""), "plugin_not_accepted", "which plugin small answers", "takeSource", "beside"),
		install("beside", 200, of("other", `,"beside":true`), "", `"owner":"small"`),
		post("two that are here", "/plugins/diff", `{"old":"small@1.0.0","new":"other"}`, 200, "", `"owner":"small"`, `"old":{"name":"small","version":"1.0.0"`),
		post("nothing to compare", "/plugins/diff", `{"new":""}`, 422, "plugin_not_changed", "`new` is missing"),
		post("a file to compare", "/plugins/diff", fmt.Sprintf(`{"old":"small","new":%q}`, file), 422, "plugin_not_changed", "files of the machine are not read"),
		post("pin", "/plugins/pin", `{"plugin":"small@~1.0"}`, 200, "", `"use":"1.0.0"`, `"constraint":"~1.0"`),
		post("pin what is not there", "/plugins/pin", `{"plugin":"small@~7"}`, 422, "plugin_not_changed", "none meets ~7"),
		post("pin a file", "/plugins/pin", `{"plugin":"../x"}`, 422, "plugin_not_changed", "names no plugin"),
		post("pin a wider one", "/plugins/pin", `{"plugin":"small@2.0.0"}`, 200, "", `"use":"2.0.0"`),
		post("roll back", "/plugins/rollback", `{"name":"small"}`, 200, "", `"use":"1.0.0"`),
		post("pin an unlisted and wider one", "/plugins/pin", `{"plugin":"small@4.0.0"}`, 409, "plugin_not_accepted", "requests to https://d.example"),
		post("pin it, accepted", "/plugins/pin", `{"plugin":"small@4.0.0","grant":true}`, 200, "", `"use":"4.0.0"`),
		post("roll back what is not there", "/plugins/rollback", `{"name":"absent"}`, 422, "plugin_not_changed", "pins no plugin absent"),
		post("remove the one in use", "/plugins/remove", `{"plugin":"small@4.0.0"}`, 422, "plugin_not_changed", "is in use"),
		post("remove no version", "/plugins/remove", `{"plugin":"small@"}`, 422, "plugin_not_changed", "names no version"),
		post("remove a file", "/plugins/remove", `{"plugin":"../x"}`, 422, "plugin_not_changed", "names no plugin"),
		{name: "a reader removes", method: "POST", path: "/plugins/remove", body: `{"plugin":"small"}`, header: reader, status: 403, code: "invalid_api_key"},
		post("remove a version", "/plugins/remove", `{"plugin":"small@1.1.0"}`, 200, "", `"use":"4.0.0"`, `"removed":["1.1.0"]`),
		post("remove all", "/plugins/remove", `{"plugin":"small"}`, 200, "", `"name":"small"`, `"before":"4.0.0","removed":["4.0.0"`),
		post("remove what is gone", "/plugins/remove", `{"plugin":"small"}`, 422, "plugin_not_changed", "pins no plugin small"),
	})
}
