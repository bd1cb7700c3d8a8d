package deploy

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLockFormats opens the lock of every format that there was and writes it as
// it is, byte for byte: what is under version control changes only where
// something changed.
func TestLockFormats(t *testing.T) {
	for _, format := range []string{"v1", "v2"} {
		t.Run(format, func(t *testing.T) { checkFormat(t, filepath.Join("testdata", format)) })
	}
}

func checkFormat(t *testing.T, dir string) {
	want, err := os.ReadFile(filepath.Join(dir, LockFile))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ReadLock(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.text()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the lock is written as\n%s\nwant\n%s", got, want)
	}
	e := l.Plugins["openai"]
	if l.Format == 2 && (l.Sources["openAi"] != "openai" || len(e.Before.Sources) != 2 || e.Before.Sources["openAi"] != "acme") {
		t.Errorf("the sources are %v, and before %v", l.Sources, e.Before.Sources)
	}
	if e == nil || e.Use != "1.2.3" || e.Constraint != "~1.2" || e.Before == nil || e.Before.Use != "1.2.0" || e.Pinned["1.2.3"].Grants.HTTP[1] != "${baseUrl}" {
		t.Errorf("openai is %+v", e)
	}
}

func TestReadLockAbsent(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "absent")} {
		l, err := ReadLock(dir)
		if err != nil || len(l.Plugins) != 0 {
			t.Errorf("ReadLock(%s) = %+v, %v; want an empty lock", dir, l, err)
		}
	}
}

func TestReadLockErrors(t *testing.T) {
	sum := strings.Repeat("a", 64)
	entry := func(s string) string { return `{"format":1,"plugins":{"x":` + s + `}}` }
	pin := func(s string) string { return entry(`{"use":"1.0.0","pinned":{"1.0.0":` + s + `}}`) }
	tests := []struct{ name, text, want string }{
		{"empty", "", "1:1: the file ends too early"},
		{"cut off", `{"format":1,"plugins":{"x":{"use"`, "1:34: the file ends too early"},
		{"not JSON", "{\n  format: 1\n}", "2:3: it is not JSON"},
		{"not UTF-8", "{\"\xff\":1}", "1:1: the file is not UTF-8"},
		{"a list", "[]", "1:1: a list stands here, and must be an object"},
		{"newer", "{\n  \"format\": 3,\n  \"plugins\": {}\n}", "2:13: the format is 3, and this parley reads 1 to 2"},
		{"no format", `{"plugins":{}}`, "format or plugins is missing"},
		{"no plugins", `{"format":1}`, "format or plugins is missing"},
		{"format of text", `{"format":"1"}`, `1:11: "1" stands here, and must be an integer from 1`},
		{"format with a fraction", `{"format":1.5}`, `1.5 stands here, and must be an integer from 1`},
		{"more", `{"format":1,"plugins":{}} {}`, "1:27: there is more after the end"},
		{"unknown field", "{\"format\":1,\n \"plugin\":{}}", `2:2: "plugin" stands here, and may be one of: format, plugins, sources`},
		{"sources in format 1", `{"format":1,"sources":{},"plugins":{}}`, "a lock of format 1 has no sources"},
		{"origin that is a path", `{"format":2,"plugins":{"x":{"use":"1.0.0","pinned":{"1.0.0":{"from":"/etc/x.wasm"}}}}}`, `"/etc/x.wasm" stands here, and must be a URL or a reference`},
		{"origin with a short digest", `{"format":2,"plugins":{"x":{"use":"1.0.0","pinned":{"1.0.0":{"from":"oci://r.example/x@sha256:00"}}}}}`, `stands here, and must be a URL or a reference`},
		{"source", `{"format":2,"sources":{"../x":"x"}}`, `1:24: "../x" stands here, and may be a source`},
		{"source twice", `{"format":2,"sources":{"a":"x","a":"y"}}`, `"a" comes twice`},
		{"owner", `{"format":2,"sources":{"a":"X"}}`, `1:28: "X" stands here, and must be a plugin's name`},
		{"case", `{"Format":1}`, `"Format" stands here, and may be one of`},
		{"twice", entry("{\"use\":\"1.0.0\",\n\"use\":\"1.0.0\"}"), `2:1: "use" comes twice`},
		{"plugin twice", `{"format":1,"plugins":{"x":{"use":"1.0.0","pinned":{"1.0.0":{"sha256":"` + sum + `","abi":1}}},"x":{}}}`, `"x" comes twice`},
		{"name", `{"format":1,"plugins":{"../x":{}}}`, `1:24: "../x" stands here, and may be a plugin's name`},
		{"version", entry(`{"use":"1.0"}`), `"1.0" stands here, and must be a semantic version`},
		{"version that leads out", entry(`{"pinned":{"1.0.0-../../x":{}}}`), `"1.0.0-../../x" stands here, and may be a semantic version`},
		{"constraint", entry(`{"constraint":"latest"}`), `"latest" stands here, and must be a version constraint`},
		{"null", entry(`{"use":null}`), "null stands here"},
		{"no pin in use", entry(`{"use":"1.0.0","pinned":{}}`), `the version in use, "1.0.0", is not among the pinned`},
		{"no pin before", entry(`{"use":"1.0.0","before":{"use":"0.9.0"},"pinned":{"1.0.0":{"sha256":"` + sum + `","abi":1}}}`), `the version before, "0.9.0", is not among the pinned`},
		{"hash", pin(`{"sha256":"abc"}`), `"abc" stands here, and must be 64 hexadecimal digits`},
		{"no hash", pin(`{"abi":1}`), "sha256 or abi is missing"},
		{"ABI", pin(`{"abi":0}`), "0 stands here, and must be an integer from 1"},
		{"grant", pin(`{"grants":{"http":[1]}}`), "1 stands here, and must be a string"},
		{"grants", pin(`{"grants":{"http":{}}}`), "an object stands here, and must be a list"},
		{"long", pin(`{"sha256":"` + strings.Repeat("é", 200) + `"}`), `…" stands here`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, LockFile), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := ReadLock(dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("ReadLock: %v, want …%s…", err, tt.want)
			}
			for _, part := range []string{filepath.Join(dir, LockFile) + ":", "take the last good one from version control"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("ReadLock: %v, which lacks %q", err, part)
				}
			}
			if len(err.Error()) > 500 {
				t.Errorf("the error has %d bytes: %v", len(err.Error()), err)
			}
		})
	}
}

func TestReadLockBounded(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, LockFile), make([]byte, maxLock+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLock(dir); err == nil || !strings.Contains(err.Error(), "over 1024 KiB") {
		t.Errorf("ReadLock: %v, want a word about its size", err)
	}
}

// FuzzLock checks that whatever is accepted is written such that it is read
// again as the same, and that nothing in it leads out of the directory.
func FuzzLock(f *testing.F) {
	seed, err := os.ReadFile("testdata/v1/plugins.lock")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"format":1,"plugins":{}}`))
	f.Add([]byte(`{"format":1,"plugins":{"x":{"use":"1.0.0","before":null}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parseLock("plugins.lock", b)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "read plugin lock: plugins.lock:") {
				t.Fatalf("the error names no place: %v", err)
			}
			return
		}
		text, err := l.text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseLock("plugins.lock", text)
		if err != nil {
			t.Fatalf("what was written is refused: %v\n%s", err, text)
		}
		twice, err := again.text()
		if err != nil || !bytes.Equal(text, twice) {
			t.Fatalf("written twice: %v\n%s\n%s", err, text, twice)
		}
		d := Dir{Path: "dir"}
		for name, e := range l.Plugins {
			for version := range e.Pinned {
				if file := d.file(name, version); filepath.Dir(file) != "dir" {
					t.Fatalf("%q leads out", file)
				}
			}
		}
	})
}
