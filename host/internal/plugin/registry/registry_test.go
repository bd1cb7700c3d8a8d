package registry

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// docker gives the test a configuration of docker's of its own.
func docker(t testing.TB, config string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	if config != "" {
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// login is docker's configuration with a login for host.
func login(host, user, password string) string {
	return fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, host, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

// serve runs a registry, which wrap may stand in front of, and returns its host
// and port.
func serve(t testing.TB, wrap func(http.Handler) http.Handler) string {
	t.Helper()
	h := registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true))
	if wrap != nil {
		h = wrap(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func newClient() *Client { return &Client{Transport: &http.Transport{}, MaxModule: 1 << 20} }

// parse wants s to be a reference.
func parse(t testing.TB, s string) Reference {
	t.Helper()
	r, err := ParseReference(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseReference(t *testing.T) {
	sum := "sha256:" + strings.Repeat("0a", 32)
	tests := []struct {
		in   string
		want Reference
	}{
		{"oci://r.example/a", Reference{Host: "r.example", Repository: "a"}},
		{"oci://r.example:5000/a/b-c:1.2.0", Reference{Host: "r.example:5000", Repository: "a/b-c", Tag: "1.2.0"}},
		{"oci://[::1]:5000/a@" + sum, Reference{Host: "[::1]:5000", Repository: "a", Digest: sum}},
		{"oci://r.example/a:1.2.0@" + sum, Reference{Host: "r.example", Repository: "a", Tag: "1.2.0", Digest: sum}},
		{"oci-layout:///media/x", Reference{Layout: "/media/x"}},
		{"oci-layout://x.d/y:a-1.0.0", Reference{Layout: "x.d/y", Tag: "a-1.0.0"}},
		{"oci-layout:///me@home/x:a@" + sum, Reference{Layout: "/me@home/x", Tag: "a", Digest: sum}},
	}
	for _, tt := range tests {
		got, err := ParseReference(tt.in)
		if err != nil || got != tt.want || got.String() != tt.in {
			t.Errorf("ParseReference(%q) = %+v (%s), %v; want %+v", tt.in, got, got, err, tt.want)
		}
	}
	for _, in := range []string{
		"oci://", "oci://r.example", "oci:///a", "oci://r.example/A", "oci://r.example/a:", "oci://r.example/a:-x", "oci://r.example/a@sha256:00",
		"oci://r.example/a@", "oci://user:hush@r.example/a", "oci://r.example/a?x=1", "oci-layout://", "oci-layout://:a", "oci-layout://x:", "oci-layout://x:a b", "http://r.example/a", "",
	} {
		if got, err := ParseReference(in); err == nil || strings.Contains(err.Error(), "\x00") {
			t.Errorf("ParseReference(%q) = %+v, want an error", in, got)
		}
	}
}

// TestPushPull publishes a module in a registry and in a layout, and takes it from
// there by tag and by digest.
func TestPushPull(t *testing.T) {
	docker(t, "")
	host := serve(t, nil)
	module, signatures := []byte("\x00asm one"), [][]byte{[]byte("signature one"), []byte("signature two")}
	c := newClient()
	var digests []string
	for _, place := range []string{"oci://" + host + "/plugins/x", "oci-layout://" + filepath.Join(t.TempDir(), "new", "layout")} {
		r := parse(t, place+":1.0.0")
		i := Image{Module: module, Annotations: map[string]string{"org.opencontainers.image.version": "1.0.0"}, Fixed: true}
		digest, err := c.Push(t.Context(), r, i)
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, digest)
		if again, err := c.Push(t.Context(), r, i); err != nil || again != digest {
			t.Errorf("Push of the same to %s: %s, %v; want %s", place, again, err, digest)
		}
		if a, err := c.Pull(t.Context(), r); err != nil || len(a.Signatures) != 0 {
			t.Errorf("Pull from %s before it is signed: %+v, %v", place, a, err)
		}
		i.Signatures = signatures
		if _, err := c.Push(t.Context(), r, i); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{place + ":1.0.0", place + "@" + digest, place + ":gone@" + digest} {
			a, err := c.Pull(t.Context(), parse(t, at))
			if err != nil || !bytes.Equal(a.Module, module) || a.Digest != digest || len(a.Signatures) != 2 {
				t.Fatalf("Pull(%s) = %+v, %v; want module, digest %s and two signatures", at, a, err, digest)
			}
			slices.SortFunc(a.Signatures, bytes.Compare)
			if !slices.EqualFunc(a.Signatures, signatures, bytes.Equal) {
				t.Errorf("Pull(%s) brings the signatures %q, want %q", at, a.Signatures, signatures)
			}
		}
		other := Image{Module: []byte("\x00asm two"), Fixed: true}
		if _, err := c.Push(t.Context(), r, other); !errors.Is(err, ErrTagged) {
			t.Errorf("Push of another module under the same version: %v, want %v", err, ErrTagged)
		}
		other.Fixed = false
		moved := r
		moved.Tag = "latest"
		for _, module := range []string{"\x00asm two", "\x00asm three"} {
			other.Module = []byte(module)
			if _, err := c.Push(t.Context(), moved, other); err != nil {
				t.Errorf("Push under a tag that moves: %v", err)
			}
		}
		tags, err := c.Tags(t.Context(), parse(t, place))
		tags = slices.DeleteFunc(tags, func(s string) bool { return strings.HasPrefix(s, "sha256-") })
		if slices.Sort(tags); err != nil || !slices.Equal(tags, []string{"1.0.0", "latest"}) {
			t.Errorf("Tags(%s) = %q, %v; want 1.0.0 and latest", place, tags, err)
		}
	}
	if digests[0] != digests[1] {
		t.Errorf("the same module has the digests %s and %s", digests[0], digests[1])
	}
	later, err := c.Push(t.Context(), parse(t, "oci://"+host+"/plugins/x:later"), Image{Module: module, Created: time.Unix(1e9, 0)})
	if err != nil || later == digests[0] {
		t.Errorf("Push with another time: %s, %v; want another digest", later, err)
	}
}

// failing answers requests whose path holds part with status, or by answer.
func failing(part string, answer http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, part) && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
				answer(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// TestPullHostile asks registries that lie, break off, redirect or grow.
func TestPullHostile(t *testing.T) {
	docker(t, "")
	module := []byte("\x00asm " + strings.Repeat("x", 1000))
	push := func(host string) {
		t.Helper()
		if _, err := newClient().Push(t.Context(), parse(t, "oci://"+host+"/x:1.0.0"), Image{Module: module, Signatures: [][]byte{[]byte("s")}}); err != nil {
			t.Fatal(err)
		}
	}
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusTemporaryRedirect) }
	}
	blob := "/blobs/sha256:" + fmt.Sprintf("%x", sum(module))
	manifest := func(m map[string]any) http.HandlerFunc {
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("content-type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("docker-content-digest", fmt.Sprintf("sha256:%x", sum(b)))
			w.Header().Set("content-length", fmt.Sprint(len(b)))
			_, _ = w.Write(b)
		}
	}
	layer := func(kind string, size int) map[string]any {
		return map[string]any{"mediaType": kind, "digest": fmt.Sprintf("sha256:%x", sum(module)), "size": size}
	}
	image := func(layers ...map[string]any) map[string]any {
		return map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": layer(typeConfig, 1), "layers": layers}
	}
	tests := []struct {
		name, part string
		answer     http.HandlerFunc
		want       string
	}{
		{"tampered layer", blob, status(200, "\x00ASM "+strings.Repeat("x", 1000)), "it was altered or damaged; nothing was kept"},
		{"longer layer", blob, status(200, string(module)+"x"), ""},
		{"shorter layer", blob, status(200, "short"), ""},
		{"no layer", blob, status(404, ""), "it is not there"},
		{"a layer behind a broken server", blob, status(502, "<html>"), "the registry answers 502 Bad Gateway"},
		{"a layer without encryption elsewhere", blob, redirect("http://plain.example/x"), "without encryption"},
		{"a layer in a loop", blob, redirect("/v2/x" + blob), "more than 5 redirects"},
		{"a layer that is not http", blob, redirect("file:///etc/passwd"), "without encryption"},
		{"no manifest", "/manifests/", status(404, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"<script>"}]}`), "it is not there"},
		{"too many requests", "/manifests/", status(429, `{"errors":[{"code":"TOOMANYREQUESTS","message":"hush"}]}`), "429 Too Many Requests"},
		{"another type", "/manifests/", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("content-type", "application/vnd.docker.distribution.manifest.list.v2+json")
			w.Header().Set("docker-content-digest", "sha256:"+strings.Repeat("00", 32))
			w.Header().Set("content-length", "2")
			_, _ = io.WriteString(w, "{}")
		}, "and a module has application/vnd.oci.image.manifest.v1+json"},
		{"two layers", "/manifests/", manifest(image(layer(typeModule, len(module)), layer(typeModule, len(module)))), "it has 2 layers"},
		{"a tarball", "/manifests/", manifest(image(layer("application/vnd.oci.image.layer.v1.tar+gzip", len(module)))), "its layer is of type application/vnd.oci.image.layer.v1.tar+gzip"},
		{"a huge layer", "/manifests/", manifest(image(layer(typeModule, 1<<50))), "it has over 1024 KiB"},
		{"a negative layer", "/manifests/", manifest(image(layer(typeModule, -1))), "pull oci://"},
		{"the wrong size", "/manifests/", manifest(image(layer(typeModule, 3))), ""},
		{"a huge manifest", "/manifests/", manifest(map[string]any{"x": strings.Repeat("x", maxManifest)}), "it has over 1024 KiB"},
		{"not JSON", "/manifests/", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("content-type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("docker-content-digest", fmt.Sprintf("sha256:%x", sum([]byte("{"))))
			w.Header().Set("content-length", "1")
			_, _ = io.WriteString(w, "{")
		}, "is not JSON"},
		{"referrers that are not", "/referrers/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("content-type", "application/vnd.oci.image.index.v1+json")
			_, _ = io.WriteString(w, "junk")
		}, "list the signatures"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var fails bool
			host := serve(t, func(next http.Handler) http.Handler {
				bad := failing(tt.part, tt.answer)(next)
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if fails {
						bad.ServeHTTP(w, r)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			push(host)
			fails = true
			a, err := newClient().Pull(t.Context(), parse(t, "oci://"+host+"/x:1.0.0"))
			if err == nil || a != nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "oci://"+host+"/x:1.0.0") {
				t.Fatalf("Pull = %+v, %v; want an error with %q and the reference", a, err, tt.want)
			}
			if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "<script>") {
				t.Errorf("the error shows what the registry says: %v", err)
			}
		})
	}
	host := serve(t, nil)
	push(host)
	for at, want := range map[string]string{
		"oci://" + host + "/x:2.0.0":                              "it is not there",
		"oci://" + host + "/y:1.0.0":                              "it is not there",
		"oci://" + host + "/x@sha256:" + strings.Repeat("00", 32): "it is not there",
		"oci://127.0.0.1:1/x:1.0.0":                               "connection refused",
	} {
		if _, err := newClient().Pull(t.Context(), parse(t, at)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Pull(%s): %v, want …%s…", at, err, want)
		}
	}
	small := newClient()
	small.MaxModule = 100
	if _, err := small.Pull(t.Context(), parse(t, "oci://"+host+"/x:1.0.0")); err == nil || !strings.Contains(err.Error(), "may have no more") {
		t.Errorf("Pull of what is too large: %v", err)
	}
	if _, err := small.Push(t.Context(), parse(t, "oci://"+host+"/x:2.0.0"), Image{Module: module}); err == nil || !strings.Contains(err.Error(), "may have no more") {
		t.Errorf("Push of what is too large: %v", err)
	}
	if _, err := (&Client{}).Pull(t.Context(), parse(t, "oci://"+host+"/x:1.0.0")); err == nil || !strings.Contains(err.Error(), "nothing is downloaded here") {
		t.Errorf("Pull without a transport: %v", err)
	}
}

// guarded runs a registry that wants a login.
func guarded(t testing.TB, user, password string) (host string) {
	t.Helper()
	return serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			u, p, ok := r.BasicAuth()
			if !ok || u != user || p != password {
				w.Header().Set("www-authenticate", `Basic realm="x"`)
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = io.WriteString(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
}

// TestLogin signs in by docker's configuration and by a credential helper, and says
// what to do where the login is missing, wrong or expired.
func TestLogin(t *testing.T) {
	host := guarded(t, "me", "hush-password")
	r := parse(t, "oci://"+host+"/x:1.0.0")
	push := func() error {
		_, err := newClient().Push(t.Context(), r, Image{Module: []byte("\x00asm")})
		return err
	}
	wants := func(what string, err error, want ...string) {
		t.Helper()
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) || strings.Contains(err.Error(), "hush") {
				t.Errorf("%s: %v, want …%s… and no secret", what, err, w)
			}
		}
	}
	docker(t, "")
	wants("no login", push(), "the registry wants a login", "`docker login "+host+"`", "DOCKER_CONFIG")
	docker(t, login("other.example", "me", "hush-password"))
	wants("a login for another registry", push(), "the registry wants a login")
	docker(t, login(host, "me", "hush-old"))
	wants("an expired login", push(), `does not take the login of "me" (401 Unauthorized`, "has expired", "`docker login "+host+"`")
	docker(t, `{"auths": {`)
	wants("a damaged configuration", push(), "read the login from docker's configuration")
	docker(t, fmt.Sprintf(`{"credHelpers": {%q: "parley-absent"}}`, host))
	wants("a helper that is not there", push(), "read the login from docker's configuration", "docker-credential-parley-absent")
	docker(t, login(host, "me", "hush-password"))
	if err := push(); err != nil {
		t.Errorf("a good login: %v", err)
	}

	bin := t.TempDir()
	helper := "#!/bin/sh\nread server\n[ \"$server\" = '" + host + "' ] || exit 1\necho '{\"ServerURL\": \"x\", \"Username\": \"me\", \"Secret\": \"hush-password\"}'\n"
	if err := os.WriteFile(filepath.Join(bin, "docker-credential-parley-test"), []byte(helper), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	docker(t, fmt.Sprintf(`{"credHelpers": {%q: "parley-test"}}`, host))
	if err := push(); err != nil {
		t.Errorf("a helper's login: %v", err)
	}
}

// TestLoginElsewhere signs in at a token server, and gives the login to nobody where
// the registry leads to an address without encryption.
func TestLoginElsewhere(t *testing.T) {
	var tokens, stolen []string
	mux := http.NewServeMux()
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		tokens = append(tokens, password)
		if password != "hush-password" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"errors":[{"code":"UNAUTHORIZED","message":"hush"}]}`)
			return
		}
		_, _ = io.WriteString(w, `{"token": "hush-token"}`)
	})
	signer := httptest.NewServer(mux)
	defer signer.Close()
	realm := signer.URL + "/token"
	host := serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("authorization") == "Bearer hush-token" {
				next.ServeHTTP(w, r)
				return
			}
			stolen = append(stolen, r.Header.Get("authorization"))
			w.Header().Set("www-authenticate", fmt.Sprintf(`Bearer realm=%q,service="registry",scope="repository:x:pull,push"`, realm))
			w.WriteHeader(http.StatusUnauthorized)
		})
	})
	r := parse(t, "oci://"+host+"/x:1.0.0")
	docker(t, login(host, "me", "hush-password"))
	if _, err := newClient().Push(t.Context(), r, Image{Module: []byte("\x00asm")}); err != nil {
		t.Errorf("Push by a token: %v", err)
	}
	if len(tokens) == 0 || slices.ContainsFunc(stolen, func(s string) bool { return s != "" }) {
		t.Errorf("the token server was asked %d times, the registry saw %q", len(tokens), stolen)
	}
	docker(t, login(host, "me", "hush-old"))
	_, err := newClient().Pull(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), `does not take the login of "me"`) || !strings.Contains(err.Error(), "asked at "+strings.TrimPrefix(signer.URL, "http://")) || strings.Contains(err.Error(), "hush") {
		t.Errorf("Pull by an expired login: %v", err)
	}
	realm = "http://registry.invalid/token"
	_, err = newClient().Pull(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "without encryption") {
		t.Errorf("Pull where the login would go out in the open: %v", err)
	}
}

// TestLayoutDamaged opens folders that are no layouts, or no longer whole.
func TestLayoutDamaged(t *testing.T) {
	module := []byte("\x00asm " + strings.Repeat("x", 100))
	blob := filepath.Join("blobs", "sha256", fmt.Sprintf("%x", sum(module)))
	tests := []struct {
		name   string
		damage func(dir string) error
		want   string
	}{
		{"no index", func(dir string) error { return os.Remove(filepath.Join(dir, "index.json")) }, "is not an OCI image layout"},
		{"no such folder", os.RemoveAll, "no such file"},
		{"no module", func(dir string) error { return os.Remove(filepath.Join(dir, blob)) }, "it is not there"},
		{"tampered module", func(dir string) error {
			file := filepath.Join(dir, blob)
			return errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, []byte("\x00ASM "+strings.Repeat("x", 100)), 0o600))
		}, "it was altered or damaged"},
		{"junk as index", func(dir string) error { return os.WriteFile(filepath.Join(dir, "index.json"), []byte("junk"), 0o600) }, "read the layout"},
		{"an index that leads out", func(dir string) error {
			file := filepath.Join(dir, blob)
			return errors.Join(os.Remove(file), os.Symlink("/etc/passwd", file))
		}, "pull oci-layout://"},
		{"a huge file", func(dir string) error { return os.Truncate(filepath.Join(dir, "index.json"), 2<<20) }, "may have no more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "layout")
			r := parse(t, "oci-layout://"+dir+":x-1.0.0")
			if _, err := newClient().Push(t.Context(), r, Image{Module: module}); err != nil {
				t.Fatal(err)
			}
			if err := tt.damage(dir); err != nil {
				t.Fatal(err)
			}
			if a, err := newClient().Pull(t.Context(), r); err == nil || a != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Pull = %+v, %v; want …%s…", a, err, tt.want)
			}
		})
	}
}

func sum(b []byte) []byte {
	s := sha256.Sum256(b)
	return s[:]
}

// TestLayoutSame writes the same plugins in two orders, and wants the same files.
func TestLayoutSame(t *testing.T) {
	images := map[string]Image{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		images[name] = Image{Module: []byte("\x00asm " + name), Signatures: [][]byte{[]byte("s" + name)}}
	}
	var written []string
	for range 2 {
		dir := filepath.Join(t.TempDir(), "layout")
		for name, i := range images { // in any order
			if _, err := newClient().Push(t.Context(), parse(t, "oci-layout://"+dir+":"+name), i); err != nil {
				t.Fatal(err)
			}
		}
		var all strings.Builder
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				fmt.Fprintln(&all, strings.TrimPrefix(path, dir))
				return err
			}
			b, err := os.ReadFile(path)
			fmt.Fprintf(&all, "%s %x\n", strings.TrimPrefix(path, dir), sum(b))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, all.String())
	}
	if written[0] != written[1] || strings.Contains(written[0], "ingest") {
		t.Errorf("the same plugins came to\n%s\nand to\n%s", written[0], written[1])
	}
}
