package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aead.dev/minisign"
	"gopkg.in/yaml.v2"
)

// A fakeRelease is a release whose program is a script, as .ci/manifests completes it.
type fakeRelease struct {
	t    *testing.T
	dist string
	key  minisign.PrivateKey
}

const fakeVersion = "9.9.9"

func newFakeRelease(t *testing.T) *fakeRelease {
	t.Helper()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r := &fakeRelease{t, t.TempDir(), private}
	for _, target := range []string{"linux-amd64.tar.gz", "linux-arm64.tar.gz", "darwin-amd64.tar.gz", "darwin-arm64.tar.gz", "windows-amd64.zip", "windows-arm64.zip"} {
		name := "parley-" + fakeVersion + "-" + target
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		script := "#!/bin/sh\necho " + target + "\n"
		if err := w.WriteHeader(&tar.Header{Name: strings.TrimSuffix(name, ".tar.gz") + "/parley", Mode: 0o755, Size: int64(len(script))}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(script)) // into memory
		_, _ = w.Close(), z.Close()
		r.write(name, b.Bytes())
	}
	out, err := exec.Command(filepath.Join(root(t), ".ci", "manifests"), fakeVersion, r.dist, public.String()).CombinedOutput()
	if err != nil {
		t.Fatalf(".ci/manifests: %v\n%s", err, out)
	}
	var sums strings.Builder
	entries, err := os.ReadDir(r.dist)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		fmt.Fprintf(&sums, "%s  %s\n", r.sum(e.Name()), e.Name())
	}
	r.sign([]byte(sums.String()))
	return r
}

func (r *fakeRelease) write(name string, b []byte) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dist, name), b, 0o700); err != nil {
		r.t.Fatal(err)
	}
}

func (r *fakeRelease) sum(name string) string {
	r.t.Helper()
	return fmt.Sprintf("%x", sha256.Sum256([]byte(readFile(r.t, filepath.Join(r.dist, name)))))
}

func (r *fakeRelease) sign(sums []byte) {
	r.t.Helper()
	r.write("SHA256SUMS", sums)
	r.write("SHA256SUMS.minisig", minisign.Sign(r.key, sums))
}

// install runs install.sh against a server with the release's files.
func (r *fakeRelease) install(env ...string) (bin, said string, err error) {
	r.t.Helper()
	srv := httptest.NewServer(http.FileServer(http.Dir(r.dist)))
	defer srv.Close()
	home := r.t.TempDir()
	cmd := exec.CommandContext(r.t.Context(), "sh", filepath.Join(r.dist, "install.sh"))
	cmd.Env = append(append(os.Environ(), "HOME="+home, "PARLEY_FROM="+srv.URL), env...)
	out, err := cmd.CombinedOutput()
	return filepath.Join(home, ".local", "bin", "parley"), string(out), err
}

// TestInstallScript wants what a release's install.sh installs to be what the release
// has, and nothing to be installed where one byte or the signature is wrong.
func TestInstallScript(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "curl", "tar", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	_, noMinisign := exec.LookPath("minisign")
	archives := func(r *fakeRelease) (names []string) {
		names, _ = filepath.Glob(filepath.Join(r.dist, "*.tar.gz"))
		return names
	}
	bare := t.TempDir() // a PATH without minisign
	for _, tool := range []string{"sh", "curl", "tar", "gzip", "sha256sum", "cut", "grep", "mktemp", "rm", "mv", "mkdir", "uname"} {
		if path, err := exec.LookPath(tool); err == nil {
			if err := os.Symlink(path, filepath.Join(bare, tool)); err != nil {
				t.Fatal(err)
			}
		}
	}
	without := func(tools ...string) string { // a PATH that lacks these, too
		dir := t.TempDir()
		entries, err := os.ReadDir(bare)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !slices.Contains(tools, e.Name()) {
				if err := os.Symlink(filepath.Join(bare, e.Name()), filepath.Join(dir, e.Name())); err != nil {
					t.Fatal(err)
				}
			}
		}
		return "PATH=" + dir
	}
	for name, tt := range map[string]struct {
		change   func(r *fakeRelease)
		env      []string
		minisign bool   // the case needs it
		says     string // of one that fails; empty: it installs
	}{
		"as released":          {},
		"signature required":   {env: []string{"PARLEY_REQUIRE_SIGNATURE=1"}, minisign: true},
		"without minisign":     {env: []string{"PATH=" + bare}},
		"it must be there":     {env: []string{"PATH=" + bare, "PARLEY_REQUIRE_SIGNATURE=1"}, says: "minisign is not installed"},
		"nothing that fetches": {env: []string{without("curl")}, says: "it needs curl or wget"},
		"nothing that sums":    {env: []string{without("sha256sum")}, says: "it needs sha256sum or shasum"},
		"no such file":         {env: []string{"PARLEY_FROM=http://127.0.0.1:1/none"}, says: "cannot fetch http://127.0.0.1:1/none/parley-"},
		"another signature":    {change: func(r *fakeRelease) { r.write("SHA256SUMS", []byte("other\n")) }, minisign: true, says: "the signature of "},
		"another signed hash":  {change: func(r *fakeRelease) { r.sign([]byte("other\n")) }, minisign: true, says: "has another hash"},
		"an altered archive": {change: func(r *fakeRelease) {
			for _, name := range archives(r) {
				r.write(filepath.Base(name), append([]byte(readFile(r.t, name)), 0))
			}
		}, says: "do not use it"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.minisign && noMinisign != nil {
				t.Skip("minisign is not installed")
			}
			r := newFakeRelease(t)
			if tt.change != nil {
				tt.change(r)
			}
			bin, said, err := r.install(tt.env...)
			if tt.says == "" {
				out, ran := exec.Command(bin).Output()
				if err != nil || ran != nil || !strings.HasSuffix(string(out), ".tar.gz\n") || !strings.Contains(said, "parley "+fakeVersion+" is in ") {
					t.Errorf("install.sh: %v, said\n%s\nthe program: %v, %s", err, said, ran, out)
				}
				return
			}
			if err == nil || !strings.Contains(said, "parley is not installed: ") || !strings.Contains(said, tt.says) {
				t.Errorf("install.sh: %v, said\n%s\nwant %q", err, said, tt.says)
			}
			if _, err := os.Stat(bin); err == nil {
				t.Error("the program was installed all the same")
			}
		})
	}
}

// TestReleaseManifests reads what package managers are given, and compares the hashes.
func TestReleaseManifests(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip("sha256sum is not installed")
	}
	r := newFakeRelease(t)
	sum := func(target string) string { return r.sum("parley-" + fakeVersion + "-" + target) }
	if brew := readFile(t, filepath.Join(r.dist, "parley.rb")); strings.Contains(brew, "VERSION") || !strings.Contains(brew, sum("linux-arm64.tar.gz")) || !strings.Contains(brew, sum("darwin-amd64.tar.gz")) {
		t.Errorf("parley.rb is not filled:\n%s", brew)
	}
	var scoop struct {
		Version      string
		Architecture map[string]struct{ URL, Hash string }
	}
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(r.dist, "parley.json"))), &scoop); err != nil || scoop.Version != fakeVersion || scoop.Architecture["64bit"].Hash != sum("windows-amd64.zip") ||
		!strings.HasSuffix(scoop.Architecture["arm64"].URL, "/v9.9.9/parley-9.9.9-windows-arm64.zip") {
		t.Errorf("parley.json: %v, %+v", err, scoop)
	}
	files, err := filepath.Glob(filepath.Join(r.dist, "ParleySearch.Parley*.yaml"))
	if err != nil || len(files) != 3 {
		t.Fatalf("manifests for winget: %q, %v; want 3", files, err)
	}
	for _, name := range files {
		var m struct {
			PackageVersion string `yaml:"PackageVersion"`
			Installers     []struct {
				SHA256 string `yaml:"InstallerSha256"`
			} `yaml:"Installers"`
		}
		if err := yaml.Unmarshal([]byte(readFile(t, name)), &m); err != nil || m.PackageVersion != fakeVersion {
			t.Errorf("%s: %v, %+v", name, err, m)
		}
		if strings.Contains(name, ".installer.") && (len(m.Installers) != 2 || m.Installers[1].SHA256 != sum("windows-arm64.zip")) {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if path, err := exec.LookPath("shellcheck"); err == nil {
		if out, err := exec.Command(path, "-s", "sh", filepath.Join(r.dist, "install.sh")).CombinedOutput(); err != nil {
			t.Errorf("shellcheck install.sh: %v\n%s", err, out)
		}
	}
}

// TestReleaseApt has apt install from a release's files as from a repository, and wants
// it to refuse what is altered.
func TestReleaseApt(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"apt-get", "dpkg-deb", "gpg", "gpgconf"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	dir, err := os.MkdirTemp("", "apt") // a short name: gpg has a socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	env := append(os.Environ(), "GNUPGHOME="+dir, "SOURCE_DATE_EPOCH=1700000000", "APT_KEY=Parley releases", "LC_ALL=C")
	sh := func(script string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", "-euc", script)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(script string) string {
		t.Helper()
		out, err := sh(script)
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return out
	}
	t.Cleanup(func() { _ = exec.Command("gpgconf", "--homedir", dir, "--kill", "all").Run() })
	apt := "'" + filepath.Join(root(t), ".ci", "apt") + "' dist"
	must("gpg --batch --quiet --passphrase '' --quick-gen-key 'Parley releases' ed25519 sign never")
	must(`mkdir -p dist pkg/DEBIAN state/lists/partial cache/archives/partial fetched
printf 'Package: parley\nVersion: 9.9.9\nArchitecture: all\nMaintainer: nobody <nobody@example.org>\nDescription: answers\n more of it\n' > pkg/DEBIAN/control
dpkg-deb --root-owner-group --build pkg dist/parley_9.9.9_amd64.deb
` + apt + `
echo "deb [signed-by=$PWD/dist/parley.asc] file:$PWD/dist ./" > sources.list`)
	release := readFile(t, filepath.Join(dir, "dist", "Release"))
	must(apt)
	if again := readFile(t, filepath.Join(dir, "dist", "Release")); again != release || !strings.Contains(release, "Date: Tue, 14 Nov 2023 22:13:20 UTC\n") {
		t.Errorf("Release, made twice:\n%s\n%s", release, again)
	}
	get := `apt-get -o Dir::State="$PWD/state" -o Dir::Cache="$PWD/cache" -o Dir::Etc::SourceList="$PWD/sources.list" -o Dir::Etc::SourceParts=- \
  -o Dir::State::status=/dev/null -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any `
	must(get + "update; cd fetched; " + strings.ReplaceAll(get, "$PWD", dir) + "download parley; cmp parley_9.9.9_all.deb ../dist/parley_9.9.9_amd64.deb")
	must("rm -r fetched/* cache/*; mkdir -p cache/archives/partial; printf x >> dist/parley_9.9.9_amd64.deb")
	if out, err := sh("cd fetched; " + strings.ReplaceAll(get, "$PWD", dir) + "download parley"); err == nil {
		t.Errorf("apt takes an altered package:\n%s", out)
	}
	must("rm -r state; mkdir -p state/lists/partial; sed -i 's/^Label: Parley/Label: Barley/' dist/InRelease")
	if out, err := sh(get + "update"); err == nil || !strings.Contains(out, "BADSIG") {
		t.Errorf("apt update, of an altered list: %v\n%s", err, out)
	}
}
