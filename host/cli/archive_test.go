package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/examples/quickstart"
)

// A dump and a snapshot are asked for, checked and restored by the commands,
// and a host on what was restored holds the documents.
func TestArchiveCommands(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts hosts")
	}
	for _, kind := range []string{"dump", "snapshot"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			cli := func(want int, args ...string) string {
				t.Helper()
				var out, errs bytes.Buffer
				if code := run(t.Context(), args, &out, &errs); code != want {
					t.Fatalf("%v ended with %d: %s%s", args, code, out.String(), errs.String())
				}
				return out.String() + errs.String()
			}
			base := serving(t, filepath.Join(dir, "data"), "--"+kind+"-dir", filepath.Join(dir, "out"))
			request(t, "POST", base+"/indexes/movies/documents", string(quickstart.Movies)) // a task before the one to come
			if said := cli(exitOK, kind, "create", "--url", base); !strings.Contains(said, kind+" made in") {
				t.Errorf("create said %q", said)
			}
			files, err := filepath.Glob(filepath.Join(dir, "out", "*."+kind))
			if err != nil || len(files) != 1 {
				t.Fatalf("files = %v, %v", files, err)
			}
			if said := cli(exitOK, kind, "inspect", files[0]); !strings.Contains(said, kind+" of ") || !strings.Contains(said, "whole") {
				t.Errorf("inspect said %q", said)
			}
			to := filepath.Join(dir, "restored")
			cli(exitOK, kind, "restore", files[0], "--db-path", to)
			if said := cli(exitFailed, kind, "restore", files[0], "--db-path", to); !strings.Contains(said, "has a database already") {
				t.Errorf("a second restore said %q", said)
			}
			base = serving(t, to)
			if body := request(t, "GET", base+"/indexes/movies/documents?limit=1", ""); !strings.Contains(body, `"total":1200`) {
				t.Errorf("restored: %s", body)
			}

			b, err := os.ReadFile(files[0])
			if err != nil || os.WriteFile(files[0], b[:len(b)/2], 0o600) != nil {
				t.Fatal(err)
			}
			if said := cli(exitFailed, kind, "inspect", files[0]); !strings.Contains(said, files[0]) {
				t.Errorf("inspect of half a file said %q", said)
			}
			if said := cli(exitFailed, kind, "create", "--url", "http://127.0.0.1:1"); !strings.Contains(said, "no service answers") {
				t.Errorf("create without a service said %q", said)
			}
		})
	}
}

// TestArchiveNames prints the names in a dump of others on one line each, and nothing that a terminal would obey.
func TestArchiveNames(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	for name, body := range map[string]string{"metadata.json": `{"dumpVersion":"V6","dbVersion":"1\u001b[2J","dumpDate":"2026-07-23T12:00:00Z"}`, "a\nrestored to /\x1b[2J": "x"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(body)), Format: tar.FormatPAX}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, body); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "x.dump")
	if err := errors.Join(w.Close(), z.Close(), os.WriteFile(file, packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"dump", "inspect", file}, {"dump", "restore", file, "--db-path", filepath.Join(dir, "data")}} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != exitOK {
			t.Fatalf("%v ended with %d: %s", args, code, errs.String())
		}
		said := out.String()
		if strings.Contains(said, "\x1b") || strings.Contains(said, "\nrestored to /\n") || strings.Contains(said, "\nrestored to /[") || !strings.Contains(said, `a\nrestored to /\x1b[2J`) {
			t.Errorf("%v said %q", args, said)
		}
	}
}

// serving runs a host on a data directory until the test ends, and returns its
// address.
func serving(t *testing.T, data string, args ...string) string {
	t.Helper()
	p := start(t, append([]string{
		"serve", "--http-addr", "127.0.0.1:0", "--db-path", data, "--plugin-dir", t.TempDir(), "--experimental-logs-mode", "json",
	}, args...)...)
	var line struct{ Addr string }
	if err := json.Unmarshal([]byte(p.waitFor(`"message":"serving"`)), &line); err != nil {
		t.Fatal(err)
	}
	return "http://" + line.Addr
}

// request returns the body of an answer that is a success.
func request(t *testing.T, method, url, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		t.Fatalf("%s %s = %d %s, %v", method, url, res.StatusCode, b, err)
	}
	return string(b)
}
