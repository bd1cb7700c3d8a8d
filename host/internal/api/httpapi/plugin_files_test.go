package httpapi_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"mime/multipart"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

// sendForm posts a form of parts, given as name, file name and content.
func (r *rig) sendForm(path string, parts ...string) answer {
	r.tb.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for i := 0; i+2 < len(parts); i += 3 {
		part, err := form.CreateFormFile(parts[i], parts[i+1])
		check(r.tb, err)
		_, err = part.Write([]byte(parts[i+2]))
		check(r.tb, err)
	}
	check(r.tb, form.Close())
	return r.do("POST", path, b.String(), "Content-Type", form.FormDataContentType())
}

// TestPluginFiles installs and compares plugins whose files are sent, by the rules that
// hold for all others, and keeps nothing of what it refuses.
func TestPluginFiles(t *testing.T) {
	t.Parallel()
	dir := deploy.Dir{Path: filepath.Join(t.TempDir(), "plugins")}
	tried := 0
	r := newRig(t, wish{limits: httpapi.Limits{Body: 256 << 10}, installer: deploy.Remote{Installer: &deploy.Installer{Dir: dir, Try: func(_ context.Context, module []byte) error {
		if tried++; bytes.Contains(module, []byte("9.9.9")) {
			return errors.New("it does not start")
		}
		return nil
	}}}})
	file := func(name, version string, origins ...string) []string {
		return []string{"plugin", name + ".wasm", string(smallPlugin(t, name, version, origins...))}
	}
	sum := func(parts []string) string { return fmt.Sprintf("?sha256=%x", sha256.Sum256([]byte(parts[2]))) }
	const a, b = "https://a.example", "https://b.example"
	first, wider, other := file("small", "1.0.0", a), file("small", "2.0.0", a, b), file("other", "1.0.0", b)
	for _, tt := range []struct {
		name, path string
		parts      []string
		status     int
		says       []string
	}{
		{"look", "diff/file", first, 200, []string{`"widened":{"http":["https://a.example"]`, `"new":{"name":"small"`}},
		{"what cannot run", "install/file", file("small", "9.9.9"), 422, []string{"plugin_not_changed", "install small.wasm: it does not start"}},
		{"no plugin", "install/file", []string{"plugin", `..\"<b>`, "\x00asm"}, 422, []string{"plugin_not_changed", "install "}},
		{"no plugin to look at", "diff/file", []string{"plugin", "x.wasm", "text"}, 422, []string{"plugin_not_changed", "read x.wasm"}},
		{"no parts", "install/file", nil, 400, []string{"missing_payload", "as the part `plugin`"}},
		{"empty", "install/file", []string{"plugin", "x.wasm", ""}, 400, []string{"missing_payload"}},
		{"unknown part", "install/file", append([]string{"grant", "", "true"}, first...), 400, []string{"bad_request", "part `grant`", "goes into the query"}},
		{"two", "install/file", append(first, other...), 400, []string{"bad_request", "part `plugin` twice"}},
		{"signature too large", "install/file", append(first, "signature", "x", strings.Repeat("x", deploy.MaxSignature+1)), 413, []string{"payload_too_large", "part `signature`"}},
		{"too large", "install/file", []string{"plugin", "x.wasm", strings.Repeat("x", 256<<10)}, 413, []string{"payload_too_large", "http-payload-size-limit"}},
		{"bad wish", "install/file?grant=yes", first, 400, []string{"bad_request", "`grant` must be true or false"}},
		{"bad hash", "install/file?sha256=abc", first, 422, []string{"plugin_not_changed", "64 hexadecimal digits"}},
		{"another hash", "install/file" + sum(wider), first, 422, []string{"plugin_not_changed", "no longer what was looked at"}},
		{"install", "install/file" + sum(first), first, 200, []string{`"use":"1.0.0"`, `"reloaded":{"loaded":[]`}},
		{"look at the wider", "diff/file", wider, 200, []string{`"old":{"name":"small","version":"1.0.0"`, `"widened":{"http":["https://b.example"]`}},
		{"wider", "install/file", wider, 409, []string{"plugin_not_accepted", "requests to https://b.example", `\"grant\": true`}},
		{"wider, accepted", "install/file?grant=true" + "&" + sum(wider)[1:], wider, 200, []string{`"use":"2.0.0"`, `"before":"1.0.0"`}},
		{"another's source", "install/file", other, 409, []string{"plugin_not_accepted", "which plugin small answers"}},
		{"beside", "install/file?beside=true", other, 200, []string{`"owner":"small"`}},
		{"same version, other bytes", "install/file?grant=true", file("small", "2.0.0", b), 422, []string{"plugin_not_changed", "another version"}},
	} {
		got := r.sendForm("/plugins/"+tt.path, tt.parts...)
		for _, says := range tt.says {
			if got.status != tt.status || !strings.Contains(got.body, says) {
				t.Errorf("%s: %d %s, want %d with %s", tt.name, got.status, got.body, tt.status, says)
			}
		}
		if strings.Contains(got.body, dir.Path) {
			t.Errorf("%s tells where the host keeps files: %s", tt.name, got.body)
		}
	}
	if tried == 0 {
		t.Error("no module was tried before it was installed")
	}
	files, err := os.ReadDir(dir.Path)
	check(t, err)
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	if got, want := strings.Join(names, " "), "other-1.0.0.wasm plugins.lock small-1.0.0.wasm small-2.0.0.wasm"; got != want {
		t.Errorf("the directory holds %s, want %s", got, want)
	}
	r.play(t, []scenario{
		{name: "JSON", method: "POST", path: "/plugins/install/file", body: `{}`, status: 415, code: "invalid_content_type", contains: []string{mimeForm}},
		{name: "JSON to compare", method: "POST", path: "/plugins/diff/file", body: `{}`, status: 415, code: "invalid_content_type", contains: []string{mimeForm}},
		{name: "half a form", method: "POST", path: "/plugins/diff/file", body: "--x\r\nContent-Disposition: form-data; name=\"plugin\"\r\n\r\n\x00asm", header: []string{"Content-Type", mimeForm + "; boundary=x"}, status: 400, code: "malformed_payload"},
		{name: "a reader's key", method: "POST", path: "/plugins/install/file", body: "x", header: []string{"Authorization", "Bearer " + r.key([]string{"plugins.get", "plugins.reload"}, []string{"*"})}, status: 403, code: "invalid_api_key", contains: []string{"plugins.update"}},
	})
	if got := r.sendForm("/plugins/diff/file", "plugin", "x.wasm", strings.Repeat("x", 256<<10)); got.status != 413 {
		t.Errorf("a file to compare that is too large: %d %s", got.status, got.body)
	}
}

// TestPluginFilesSigned sends files where the operator wants signatures.
func TestPluginFilesSigned(t *testing.T) {
	public, private, err := minisign.GenerateKey(rand.Reader)
	check(t, err)
	text, err := public.MarshalText()
	check(t, err)
	key, err := deploy.ReadPublicKey(string(text))
	check(t, err)
	dir := deploy.Dir{Path: filepath.Join(t.TempDir(), "plugins"), PublicKey: key}
	r := newRig(t, wish{installer: deploy.Remote{Installer: &deploy.Installer{Dir: dir, Try: func(context.Context, []byte) error { return nil }}}})
	module := smallPlugin(t, "small", "1.0.0")
	unsigned := []string{"plugin", "small.wasm", string(module)}
	for _, tt := range []struct {
		name   string
		parts  []string
		status int
		says   string
	}{
		{"without", unsigned, 422, "send the file small.wasm.minisig with it"},
		{"no signature", append(unsigned, "signature", "small.wasm.minisig", "x"), 422, "not a signature of minisign"},
		{"of other bytes", append(unsigned, "signature", "small.wasm.minisig", string(minisign.Sign(private, []byte("other")))), 422, "was altered"},
		{"right", append([]string{"signature", "small.wasm.minisig", string(minisign.Sign(private, module))}, unsigned...), 200, `"use":"1.0.0"`},
	} {
		if got := r.sendForm("/plugins/install/file", tt.parts...); got.status != tt.status || !strings.Contains(got.body, tt.says) {
			t.Errorf("%s: %d %s, want %d with %s", tt.name, got.status, got.body, tt.status, tt.says)
		}
	}
}

// TestPluginFilesDisabled sends files to a host whose operator lets nobody change
// plugins: nothing of them is read.
func TestPluginFilesDisabled(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	for _, path := range []string{"/plugins/install/file", "/plugins/diff/file"} {
		if got := r.sendForm(path, "plugin", "small.wasm", "x"); got.status != 403 || !strings.Contains(got.body, "plugin_api_disabled") {
			t.Errorf("%s: %d %s, want 403 plugin_api_disabled", path, got.status, got.body)
		}
	}
}
