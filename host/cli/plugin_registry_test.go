package cli

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"aead.dev/minisign"
	"github.com/google/go-containerregistry/pkg/registry"
	"golang.org/x/crypto/bcrypt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/e2e/apart"
)

// named writes a plugin of a few bytes into dir and returns its path.
func named(t *testing.T, dir, name, version string, grants ...string) string {
	t.Helper()
	manifest, err := json.Marshal(map[string]any{
		"abi": 1, "kind": "provider", "name": name, "version": version, "source": "small",
		"grants": map[string]any{"http": grants},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := abi.WithSection([]byte(read(t, "host/internal/plugin/testdata/good.wasm")), abi.SectionManifest, manifest)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name+"-"+version+".wasm")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// dockerLogin gives the test docker's configuration with a login for host.
func dockerLogin(t *testing.T, host, password string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	config := fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, host, base64.StdEncoding.EncodeToString([]byte("me:"+password)))
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

const registryPassword = "hush-registry-password"

// TestPluginRegistry publishes, installs, updates and carries plugins as an operator
// does, by a registry in this process.
//
//parley:option plugin-registry
func TestPluginRegistry(t *testing.T) {
	if apart.Run(t) {
		return
	}
	var altered []byte // served in place of any blob
	r := registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if _, password, _ := q.BasicAuth(); password != registryPassword {
			w.Header().Set("www-authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if altered != nil && q.Method == http.MethodGet && strings.Contains(q.URL.Path, "/blobs/") {
			_, _ = w.Write(altered)
			return
		}
		r.ServeHTTP(w, q)
	}))
	defer server.Close()
	useRegistry(t, strings.TrimPrefix(server.URL, "http://"), func(_ string, b []byte) { altered = b })
}

// TestPluginDockerRegistry does the same by the registry that Debian packages.
func TestPluginDockerRegistry(t *testing.T) {
	if apart.Run(t) {
		return
	}
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		t.Skip("docker-registry is not on PATH: install Debian's package docker-registry")
	}
	dir := t.TempDir()
	hash, err := bcrypt.GenerateFromPassword([]byte(registryPassword), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	storage := filepath.Join(dir, "storage")
	config := fmt.Sprintf("version: 0.1\nlog: {level: info}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: 127.0.0.1:0}\nauth: {htpasswd: {realm: x, path: %s}}\n",
		storage, filepath.Join(dir, "htpasswd"))
	for name, text := range map[string]string{"htpasswd": "me:" + string(hash) + "\n", "config.yml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), program, "serve", filepath.Join(dir, "config.yml"))
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	listening := regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)
	host := ""
	lines := bufio.NewScanner(said)
	for host == "" && lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			host = m[1]
		}
	}
	if host == "" {
		t.Fatal("docker-registry ended before it listened")
	}
	go func() {
		for lines.Scan() { // or it would wait for its log to be read
		}
	}()
	useRegistry(t, host, func(digest string, b []byte) {
		file := filepath.Join(storage, "docker", "registry", "v2", "blobs", "sha256", digest[:2], digest, "data")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	})
}

// useRegistry goes through all that an operator does by the registry host. alter
// has it serve something else in place of the blob of a digest.
func useRegistry(t *testing.T, host string, alter func(digest string, b []byte)) {
	shop, dir := t.TempDir(), filepath.Join(t.TempDir(), "plugins")
	t.Setenv("PARLEY_PLUGIN_DIR", dir)
	parley := func(code int, args ...string) string {
		t.Helper()
		var o, e bytes.Buffer
		if got := run(t.Context(), append([]string{"plugin"}, args...), &o, &e); got != code {
			t.Fatalf("parley plugin %s: code %d, want %d\n%s%s", args, got, code, &o, &e)
		}
		if strings.Contains(o.String()+e.String(), registryPassword) {
			t.Errorf("parley plugin %s shows the password:\n%s%s", args, &o, &e)
		}
		return o.String() + e.String()
	}
	has := func(what, got string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s:\n%s\nwhich lacks %q", what, got, w)
			}
		}
	}
	base := "oci://" + host + "/plugins/small"

	// Logins that are missing and expired.
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	one := small(t, shop, "1.0.0", "https://a.example")
	has("no login", parley(exitFailed, "push", one, base), "the registry wants a login", "`docker login "+host+"`")
	dockerLogin(t, host, "hush-old")
	has("an expired login", parley(exitFailed, "push", one, base), `does not take the login of "me"`, "has expired")
	dockerLogin(t, host, registryPassword)

	// By tag and by digest.
	out := parley(exitOK, "push", one, base)
	has("push", out, "plugin   small 1.0.0\n", "signed   no\n", "at       "+base+":1.0.0@sha256:")
	at := regexp.MustCompile(`at       (\S+)`).FindStringSubmatch(out)[1]
	digest := at[strings.LastIndex(at, "@"):]
	has("push again", parley(exitOK, "push", one, base), at)
	out = parley(exitOK, "install", base+":1.0.0")
	has("install by tag", out, "from     "+at+"\n", "in use   1.0.0 (the first)\n")
	lock, err := os.ReadFile(filepath.Join(dir, "plugins.lock"))
	if err != nil || !strings.Contains(string(lock), `"from": "`+at+`"`) {
		t.Errorf("the lock: %v\n%s\nwhich lacks the origin %s", err, lock, at)
	}
	has("install by digest", parley(exitOK, "install", base+digest), "from     "+base+digest+"\n")
	has("install without a tag", parley(exitOK, "install", base), "from     "+at+"\n")
	has("a wrong digest", parley(exitFailed, "install", base+"@sha256:"+strings.Repeat("00", 32)), "it is not there")
	has("a wrong tag", parley(exitFailed, "install", base+":9.9.9"), "it is not there")
	rebuilt := named(t, t.TempDir(), "small", "1.0.0", "https://b.example")
	has("another build of the version", parley(exitFailed, "push", rebuilt, base), "the tag names another image", "another version")

	// Newer versions: allowed ones, wider ones, and another plugin in their place.
	has("outdated", parley(exitOK, "outdated"), "small  1.0.0  -   -        -       "+base+"\n")
	for _, v := range []string{"1.1.0", "1.2.0-rc.1"} {
		parley(exitOK, "push", small(t, shop, v, "https://a.example"), base)
	}
	has("outdated", parley(exitOK, "outdated"), "small  1.0.0  -   1.1.0    1.1.0   "+base+"\n")
	has("update --dry-run", parley(exitOK, "update", "--dry-run"), "1.1.0    1.1.0")
	has("update", parley(exitOK, "update"), "in use   1.1.0 (before: 1.0.0)\n", "from     "+base+":1.1.0@sha256:")
	has("update again", parley(exitOK, "update", "small"), "no newer version is allowed")
	parley(exitOK, "push", small(t, shop, "2.0.0", "https://a.example", "https://b.example"), base)
	has("a wider update", parley(exitFailed, "update"), "asks for more than 1.1.0, which is in use: requests to https://b.example", "--grant")
	parley(exitOK, "pin", "small@^1")
	const held = "small 2.0.0 is held back by the constraint ^1 in plugins.lock: `parley plugin pin small@` drops it\n"
	has("outdated by a constraint", parley(exitOK, "outdated", "small"), "small  1.1.0  ^1  -        2.0.0   ", held)
	has("update by a constraint", parley(exitOK, "update"), "no newer version is allowed", held)
	parley(exitOK, "push", named(t, shop, "evil", "1.3.0", "https://a.example"), base+":1.3.0")
	has("another plugin in its place", parley(exitFailed, "update"), "holds plugin evil 1.3.0: nothing was kept")

	// By name.
	has("by name", parley(exitOK, "install", "small@~1.0", "--beside", "--plugin-registry", host+"/plugins"), "plugin   small 1.0.0\n")
	has("by name, of no such version", parley(exitFailed, "install", "small@~4.1", "--plugin-registry", host+"/plugins"), `no version that meets "~4.1": it has 1.0.0`)
	has("by name, of nothing", parley(exitFailed, "install", "absent", "--plugin-registry", host+"/plugins"), "has no plugin absent")
	ranged, registry := filepath.Join(t.TempDir(), "plugins"), []string{"--plugin-registry", host + "/plugins"}
	byName := func(code int, reference string, flags ...string) string {
		return parley(code, append(append([]string{"install", reference}, registry...), flags...)...)
	}
	has("by a range", byName(exitOK, "small@~1.1", "--plugin-dir", ranged), "in use   1.1.0 (the first), by ~1.1\n")
	parley(exitOK, "push", small(t, shop, "1.1.1", "https://a.example"), base)
	has("outdated in that range", parley(exitOK, "outdated", "--plugin-dir", ranged), "small  1.1.0  ~1.1  1.1.1    2.0.0   ", "small 2.0.0 is held back by the constraint ~1.1 ")
	has("update in that range", parley(exitOK, "update", "--plugin-dir", ranged), "in use   1.1.1 (before: 1.1.0), by ~1.1\n", "small 2.0.0 is held back by the constraint ~1.1 ")
	has("by an older range", byName(exitOK, "small@~1.0", "--plugin-dir", ranged), "in use   1.1.1, by ~1.1\n", "take it in use by `parley plugin pin small@~1.0 ")
	has("by a wider range", byName(exitFailed, "small@^2", "--plugin-dir", ranged), "`parley plugin install small@^2 --plugin-registry oci://"+host+"/plugins --grant ")
	has("by another range", byName(exitOK, "small@^2", "--plugin-dir", ranged, "--grant"), "in use   2.0.0 (before: 1.1.1), by ^2\n")
	has("without a range", byName(exitOK, "small", "--plugin-dir", filepath.Join(t.TempDir(), "plugins")), "in use   2.0.0 (the first)\n")
	has("by name, of another plugin", byName(exitFailed, "small@~1.3"), "holds plugin evil 1.3.0: nothing was kept")
	has("diff", parley(exitOK, "diff", "small", base+":2.0.0"), "! + grants http.https://b.example")

	// Signed, and from there to a site without a network.
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PARLEY_PLUGIN_PUBLIC_KEY", public.String())
	site := filepath.Join(t.TempDir(), "plugins")
	has("no signature", parley(exitFailed, "install", base+":1.0.0", "--plugin-dir", site), "is not signed: no signature of minisign refers to it there")
	has("push without a signature", parley(exitFailed, "push", one, base), "is not signed")
	module, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	_, stranger, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []minisign.PrivateKey{stranger, private} {
		if err := os.WriteFile(one+".minisig", minisign.Sign(key, module), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PARLEY_PLUGIN_PUBLIC_KEY", key.Public().(minisign.PublicKey).String())
		has("push signed", parley(exitOK, "push", one, base), "signed   yes\n", at)
	}
	has("install signed", parley(exitOK, "install", base+":1.0.0", "--plugin-dir", site), "in use   1.0.0 (the first)\n")
	has("verify", parley(exitOK, "verify", "--plugin-dir", site), "ok        small 1.0.0")
	stick := filepath.Join(t.TempDir(), "stick")
	has("save", parley(exitOK, "save", "small", stick, "--plugin-dir", site), "at       oci-layout://"+stick+":small-1.0.0"+digest+"\n")
	far := filepath.Join(t.TempDir(), "plugins")
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	has("install from a layout", parley(exitOK, "install", "oci-layout://"+stick+":small-1.0.0", "--plugin-dir", far), "from     oci-layout://"+stick+":small-1.0.0"+digest+"\n")
	has("verify there", parley(exitOK, "verify", "--plugin-dir", far), "ok        small 1.0.0")
	has("outdated there", parley(exitOK, "outdated", "--plugin-dir", far), "small  1.0.0  -   -        -       oci-layout://"+stick)
	two := small(t, shop, "1.1.0", "https://a.example")
	module, err = os.ReadFile(two)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(two+".minisig", minisign.Sign(private, module), 0o600); err != nil {
		t.Fatal(err)
	}
	parley(exitOK, "push", two, "oci-layout://"+stick)
	has("update there", parley(exitOK, "update", "--plugin-dir", far), "in use   1.1.0 (before: 1.0.0)\n")
	dockerLogin(t, host, registryPassword)
	has("from a layout to a registry", parley(exitOK, "push", "oci-layout://"+stick+":small-1.0.0", "oci://"+host+"/mirror/small"), "oci://"+host+"/mirror/small:1.0.0"+digest)

	// What the registry has is no longer what was pushed.
	first, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	tampered := bytes.Replace(first, []byte("a.example"), []byte("e.example"), 1)
	alter(fmt.Sprintf("%x", sha256.Sum256(first)), tampered)
	fresh := filepath.Join(t.TempDir(), "plugins")
	has("a tampered layer", parley(exitFailed, "install", base+":1.0.0", "--plugin-dir", fresh), "altered or damaged; nothing was kept")
	if left, err := os.ReadDir(fresh); err == nil && len(left) > 0 {
		t.Errorf("left of a tampered plugin: %v", left)
	}
}
