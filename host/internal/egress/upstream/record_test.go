package upstream

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// recordings returns the folders in dir, the oldest first.
func recordings(t *testing.T, dir string) (folders []string) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return folders
}

func readText(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// recorder returns a client that records into dir.
func recorder(t *testing.T, dir string, workspaces ...string) *Client {
	t.Helper()
	r, err := NewRecorder(RecordOptions{Dir: dir, Workspaces: workspaces, Failed: func(m string, err error) { t.Errorf("%s: %v", m, err) }})
	if err != nil {
		t.Fatal(err)
	}
	return client(t, Options{Record: r})
}

// The provider repeats the key, cut in two by the network, in the body; and in
// its head.
func TestRecordWithoutSecrets(t *testing.T) {
	const key = "sk-0123456789abcdef"
	s := listen(t, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, "HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\nRetry-After: 7\r\nX-Account: acme\r\nTransfer-Encoding: chunked\r\n\r\n")
		for _, piece := range []string{`{"error":"no key `, "sk-01234", "56789abc", `def here"}`} {
			io.WriteString(c, chunk(piece))
			time.Sleep(5 * time.Millisecond) // so that the pieces are read apart; together is as good
		}
		io.WriteString(c, chunk(""))
	})
	dir := filepath.Join(t.TempDir(), "made", "here")
	out := to(s.url)
	out.Secrets = map[string]string{"apiKey": key}
	out.Workspace, out.Source, out.Plugin = "support", "vLlm", "vllm 1.0.0"
	out.Encoded.Body = []byte(`{"model":"m","echo":"` + key + `"}`)
	r, err := recorder(t, dir).Do(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	r.Body(1 << 10)
	r.Close()

	all := recordings(t, dir)
	if len(all) != 1 || !strings.Contains(all[0], "-support-") {
		t.Fatalf("recordings = %v, want one of support", all)
	}
	if got, want := readText(t, all[0], RecordingBody), `{"error":"no key [redacted] here"}`; got != want {
		t.Errorf("body = %s, want %s", got, want)
	}
	if got, want := readText(t, all[0], RecordingRequest), `{"model":"m","echo":"[redacted]"}`; got != want {
		t.Errorf("request = %s, want %s", got, want)
	}
	var c RecordedCase
	text := readText(t, all[0], RecordingCase)
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if c.Source != "vLlm" || c.Plugin != "vllm 1.0.0" || c.Kind != "error" || c.Status != 429 || c.Cut || c.BaseURL != s.url+"/v1" ||
		c.Headers["retry-after"] != "7" || c.Headers["content-type"] != "application/json" || len(c.Headers) != 2 {
		t.Errorf("case = %s", text)
	}
	if info, err := os.Stat(filepath.Join(all[0], RecordingBody)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v, want 0600", info.Mode(), err)
	}
}

// A body that breaks off within the key shows no part of it, and is marked.
func TestRecordCutOff(t *testing.T) {
	const key = "sk-0123456789abcdef"
	s := say(t, chunked+chunk("data: one\n\n")+chunk("data: "+key[:12]))
	dir := t.TempDir()
	out := to(s.url)
	out.Secrets = map[string]string{"apiKey": key}
	if _, err := get(t, recorder(t, dir), out); err == nil {
		t.Error("no error for a body that broke off")
	}
	all := recordings(t, dir)
	if len(all) != 1 {
		t.Fatalf("recordings = %v, want one", all)
	}
	if got, want := readText(t, all[0], RecordingBody), "data: one\n\ndata: "; got != want {
		t.Errorf("body = %q, want %q", got, want)
	}
	if text := readText(t, all[0], RecordingCase); !strings.Contains(text, `"cut": true`) {
		t.Errorf("case = %s, want it marked as cut", text)
	}
}

func TestRecordWorkspaces(t *testing.T) {
	s := say(t, toEnd+"data: one\n\n")
	dir := t.TempDir()
	c := recorder(t, dir, "support", "sales")
	for _, workspace := range []string{"support", "private", "sales"} {
		out := to(s.url)
		out.Workspace = workspace
		if _, err := get(t, c, out); err != nil {
			t.Fatal(err)
		}
	}
	all := strings.Join(recordings(t, dir), " ")
	if !strings.Contains(all, "-support-") || !strings.Contains(all, "-sales-") || strings.Contains(all, "private") {
		t.Errorf("recordings = %s, want support's and sales'", all)
	}
}

// What cannot be recorded is told of, once, and disturbs nothing.
func TestRecordFails(t *testing.T) {
	s := say(t, toEnd+"data: one\n\n")
	dir := t.TempDir()
	var told []error
	r, err := NewRecorder(RecordOptions{Dir: dir, Failed: func(_ string, err error) { told = append(told, err) }})
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, Options{Record: r})
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := get(t, c, to(s.url)); err != nil || len(got) != 1 {
		t.Errorf("events = %v, %v, want one", got, err)
	}
	if len(told) != 1 || !errors.Is(told[0], os.ErrNotExist) {
		t.Errorf("told %v, want once that the folder is gone", told)
	}
}

func TestRecordBounds(t *testing.T) {
	s := say(t, toEnd+"data: "+strings.Repeat("x", 20<<20)+"\n\n")
	dir := t.TempDir()
	c := recorder(t, dir)
	c.limits.MaxEvent = 32 << 20
	if _, err := get(t, c, to(s.url)); err != nil {
		t.Fatal(err)
	}
	all := recordings(t, dir)
	if got := len(readText(t, all[0], RecordingBody)); got != maxRecordingBody {
		t.Errorf("body has %d bytes, want %d", got, maxRecordingBody)
	}
	if text := readText(t, all[0], RecordingCase); !strings.Contains(text, `"cut": true`) {
		t.Errorf("case = %s, want it marked as cut", text)
	}

	var told []string
	r, err := NewRecorder(RecordOptions{Dir: dir, Failed: func(m string, _ error) { told = append(told, m) }})
	if err != nil {
		t.Fatal(err)
	}
	r.left.Store(1)
	c = client(t, Options{Record: r})
	for range 3 {
		if _, err := get(t, c, to(say(t, toEnd).url)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(recordings(t, dir)); n != 2 || len(told) != 1 {
		t.Errorf("%d recordings, told %q; want one more, and told once", n, told)
	}
}

// A key that comes in pieces, each in an event of its own, is not in a recording, nor is
// what follows its first piece.
func TestRecordSpreadSecrets(t *testing.T) {
	t.Parallel()
	const key = "sk-0123456789abcdef"
	for name, body := range map[string]string{
		"in deltas":  `data: {"d":[{"t":"a "}]}` + "\n\n" + `data: {"d":[{"t":"sk-0123"}]}` + "\n\n" + `data: {"d":[{"t":"456789"}]}` + "\n\n" + `data: {"d":[{"t":"abcdef"}]}` + "\n\n",
		"in one":     `data: {"d":[{"t":"a "}]}` + "\n\n" + `data: {"d":[{"t":"sk-0123456"},{"t":"789abcdef"}]}` + "\n\n",
		"escaped":    `data: {"d":[{"t":"a "}]}` + "\n\n" + `data: {"d":[{"t":"\u0073k-012345678\u0039abcdef"}]}` + "\n\n",
		"not JSON":   `data: {"d":[{"t":"a "}]}` + "\n\ndata: sk-012345\n\ndata: 6789abcdef\n\n",
		"two halves": `data: {"d":[{"t":"a "}]}` + "\n\n" + `data: {"d":[{"t":"-0123456"}]}` + "\n\n" + `data: {"d":[{"t":"789abcdef"}]}` + "\n\n",
	} {
		dir := t.TempDir()
		out := to(say(t, toEnd+body+"data: {\"d\":[{\"t\":\" end\"}]}\n\n").url)
		out.Secrets = map[string]string{"apiKey": key}
		if _, err := get(t, recorder(t, dir), out); err != nil {
			t.Fatal(err)
		}
		all := recordings(t, dir)
		if got, want := readText(t, all[0], RecordingBody), "data: {\"d\":[{\"t\":\"a \"}]}\n\ndata: "; got != want {
			t.Errorf("%s: body = %q, want %q", name, got, want)
		}
		if text := readText(t, all[0], RecordingCase); !strings.Contains(text, `"cut": true`) {
			t.Errorf("%s: case = %s, want it marked as cut", name, text)
		}
	}
}
