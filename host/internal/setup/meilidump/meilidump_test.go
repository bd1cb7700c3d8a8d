package meilidump

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEachLine reads lines but empty ones, and says which is wrong.
func TestEachLine(t *testing.T) {
	var got []string
	if err := eachLine(strings.NewReader("a\n\n  b  \nc"), func(line []byte) error { got = append(got, string(line)); return nil }); err != nil || strings.Join(got, "|") != "a|b|c" {
		t.Errorf("lines are %q, %v", got, err)
	}
	// Of a long line each byte is looked at a few times, in however small parts it comes.
	long := &parts{left: maxLine + 1}
	if err := eachLine(long, func([]byte) error { return nil }); err == nil || !strings.Contains(err.Error(), "a line has more than") {
		t.Errorf("a line that is too long: %v", err)
	}
	bad := errors.New("bad")
	err := eachLine(strings.NewReader("a\n\nb\n"), func(line []byte) error {
		if string(line) == "b" {
			return bad
		}
		return nil
	})
	if !errors.Is(err, bad) || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("the error is %v, want it at line 3", err)
	}
}

// parts are letters, some hundred at a time.
type parts struct{ left int }

func (p *parts) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), p.left, 512)], bytes.Repeat([]byte("x"), 512))
	if p.left -= n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// pack writes a dump of files.
func pack(t *testing.T, files ...[2]string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f[0], Mode: 0o600, Size: int64(len(f[1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "x.dump")
	if err := errors.Join(w.Close(), z.Close(), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRead reads the parts of a dump, and refuses what is none.
func TestRead(t *testing.T) {
	meta := [2]string{"./metadata.json", `{"dumpVersion":"V6","dbVersion":"1.12.0","dumpDate":"2026-01-02T03:04:05Z"}`}
	path := pack(t, meta,
		[2]string{"./experimental-features.json", `{"metrics":true,"vectorStore":false,"later":"yes"}`},
		[2]string{"./tasks/queue.jsonl", "{\"status\":\"enqueued\"}\n{\"status\":\"succeeded\"}\n{\"status\":\"failed\"}\n"},
		[2]string{"./indexes/books/metadata.json", `{"uid":"books","primaryKey":"id"}`},
		[2]string{"./indexes/books/settings.json", `{"stopWords":["the"]}`},
		[2]string{"./indexes/books/documents.jsonl", "{\"id\":1}\n{\"id\":2}\n"},
	)
	if !Is(path) {
		t.Error("it is not taken for a dump")
	}
	d, err := Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if d.waiting != 1 || d.finished != 2 || !d.features["metrics"] || d.features["vectorStore"] || len(d.features) != 2 {
		t.Errorf("%d tasks wait, %d are finished, features %v", d.waiting, d.finished, d.features)
	}
	if x := d.indexes["books"]; x == nil || x.documents != 2 || !strings.Contains(string(x.settings), "the") {
		t.Errorf("index books is %+v, want two documents and its settings", x)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.dump")
	if err := os.WriteFile(cut, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"cut": cut, "nothing of a dump": pack(t, [2]string{"./a", "b"}), "not JSON": pack(t, [2]string{"./metadata.json", "{"})} {
		if d, err := Read(t.Context(), path); err == nil {
			t.Errorf("%s: %+v, want an error", name, d)
		}
	}
}

// TestReadHostile refuses dumps that are small and stand for much, before they take memory or time.
func TestReadHostile(t *testing.T) {
	meta := [2]string{"metadata.json", `{"dumpVersion":"V6","dbVersion":"1.12.0","dumpDate":"2026-01-02T03:04:05Z"}`}
	for _, tt := range []struct{ name, path, says string }{
		{"a file with holes", packHoles(t, "indexes/a/documents.jsonl", 60, 90_000_000), "times its own size"},
		{"millions of keys", pack(t, meta, [2]string{"keys.jsonl", strings.Repeat("1\n", 2_200_000)}), "settings, lists and names have more than"},
		{"many features", pack(t, meta, [2]string{"experimental-features.json", "{" + strings.Repeat(`"a":true,`, 500_000) + `"b":true}`}), "more than 4194304 bytes"},
		{"many remotes", pack(t, meta, [2]string{"network.json", "[" + strings.Repeat("{},", 1_500_000) + "{}]"}), "more than 4194304 bytes"},
		{"deep settings", pack(t, meta, [2]string{"indexes/a/settings.json", strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)}), "it is not JSON"},
	} {
		if d, err := Read(t.Context(), tt.path); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, %v, want an error that says %s", tt.name, d, err, tt.says)
		}
	}
}

// packHoles writes a dump of one file that has so many line breaks, each behind a hole of size bytes, which takes no place.
func packHoles(t *testing.T, name string, breaks, size int) string {
	t.Helper()
	var places []string
	for i := range breaks {
		places = append(places, fmt.Sprintf("%d,1", (i+1)*size))
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	h := &tar.Header{Name: name, Mode: 0o600, Size: int64(breaks), Format: tar.FormatPAX, PAXRecords: map[string]string{
		"xNU.sparse.size": fmt.Sprint((breaks + 1) * size), "xNU.sparse.numblocks": fmt.Sprint(breaks), "xNU.sparse.map": strings.Join(places, ","),
	}}
	if err := w.WriteHeader(h); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(bytes.Repeat([]byte("\n"), breaks)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "holes.dump")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(bytes.ReplaceAll(b.Bytes(), []byte("xNU.sparse"), []byte("GNU.sparse"))) // which package tar does not write
	if err := errors.Join(err, w.Close(), z.Close(), os.WriteFile(path, packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPromptText takes a prompt, and none where it is empty.
func TestPromptText(t *testing.T) {
	for in, want := range map[string]string{`"be brief"`: "be brief", `""`: "", `null`: ""} {
		var p promptText
		if err := json.Unmarshal([]byte(in), &p); err != nil || (p.string == nil) != (want == "") || p.string != nil && *p.string != want {
			t.Errorf("prompt %s: %v, %v, want %q", in, p.string, err, want)
		}
	}
	for in, want := range map[string]bool{"6062abda-a5aa-4414-ac91-ecd7944c0f8d": true, "6062ABDA-A5AA-4414-AC91-ECD7944C0F8D": false, "x": false} {
		if validUUID(in) != want {
			t.Errorf("validUUID(%s) = %v", in, !want)
		}
	}
}
