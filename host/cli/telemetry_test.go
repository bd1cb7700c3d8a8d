package cli

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parleySays runs the program with args and returns its code and output.
func parleySays(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var b bytes.Buffer
	code = run(context.Background(), args, &b, &b)
	return code, b.String()
}

// TestTelemetrySwitches switches a data directory off and on, and deletes it.
func TestTelemetrySwitches(t *testing.T) {
	dir := t.TempDir()
	uid := "350df683-4e06-4586-b9de-e65c86882793"
	if err := os.WriteFile(filepath.Join(dir, "instance-uid"), []byte(uid+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	switched := func() bool {
		_, err := os.Stat(filepath.Join(dir, "telemetry-off"))
		return err == nil
	}
	if code, out := parleySays(t, "telemetry", "off", "--db-path", dir); code != 0 || !switched() || !strings.Contains(out, "off for "+dir) {
		t.Errorf("off = %d %q, switched: %v", code, out, switched())
	}
	if code, out := parleySays(t, "telemetry", "on", "--db-path", dir); code != 0 || switched() {
		t.Errorf("on = %d %q, switched: %v", code, out, switched())
	}
	if code, out := parleySays(t, "telemetry", "delete", "--db-path", dir); code != 0 || !switched() || !strings.Contains(out, uid) {
		t.Errorf("delete = %d %q, want the UID in words for somebody else", code, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "instance-uid"), []byte(uid+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := parleySays(t, "telemetry", "delete", "--db-path", dir, "--telemetry-contact", "privacy@example.com"); code != 0 || !strings.Contains(out, "ask privacy@example.com, with these words") {
		t.Errorf("delete with a contact = %d %q, want whom to ask", code, out)
	}
	if code, out := parleySays(t, "telemetry", "delete", "--db-path", dir); code != 0 || strings.Contains(out, uid) {
		t.Errorf("delete again = %d %q, want nothing to delete", code, out)
	}
	if code, out := parleySays(t, "telemetry", "delete", "--db-path", filepath.Join(dir, "nowhere")); code == 0 {
		t.Errorf("delete of no data directory = %d %q, want a failure", code, out)
	}
}

// TestTelemetryCommands asks a host that answers as one does.
//
//parley:option telemetry-contact
func TestTelemetryCommands(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/telemetry":                  `{"on":true,"instanceUid":"u-1","elapsedMs":61000,"engine":{"window":3,"collectors":[{"name":"a","version":"1.0.0","outbound":true,"events":7},{"name":"b","version":"1.0.0","off":"after 3 bad windows"}],"refused":{"c":"it clashes"}},"spool":{"pending":2}}`,
		"/telemetry/messages?of=next": `{"results":[{"collector":"a","version":"1.0.0","window":3,"outbound":true,"body":"{\"x\":1}"},{"collector":"b","version":"1.0.0","window":3,"body":"{\"y\":2}"}],"requests":["{\"batch\":[{\"x\":1}]}"]}`,
		"/telemetry/windows?limit=1":  `{"results":[]}`,
		"/telemetry/windows?limit=2":  `{"results":[{"window":9,"sealed":"2026-11-21T08:00:00Z","messages":[{"collector":"a","version":"1.0.0","window":9,"body":"{\"x\":5}"}],"requests":["nine"]},{"window":8,"sealed":"2026-11-21T07:00:00Z","messages":[],"requests":["eight"]}]}`,
		"/telemetry/flush":            `{"window":4,"sealed":"2026-11-21T08:20:00Z","messages":[{"collector":"a","version":"1.0.0","window":4,"body":"{\"x\":6}"}],"requests":["four"]}`,
		"/telemetry/deliveries":       `{"results":[{"at":"2026-11-21T08:00:01Z","to":"https://p.example/v1/batch","outcome":"HTTP 200 OK","bytes":77,"messages":[{"id":"id-1","collector":"a","window":8},{"id":"id-2","collector":"b","window":8},{"id":"id-3","collector":"a","window":9}]}]}`,
		"/telemetry/export":           `{"instanceUid":"u-1","windows":[]}`,
		"/telemetry/metrics":          `{"results":[{"path":"a.n","kind":"int","range":[0,9],"meaning":"Things.","aggregation":"sum","noData":"omit","events":["chat"],"collector":"a","version":"1.0.0"},{"path":"b.n","kind":"bool","meaning":"Others."}]}`,
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer a key of sixteen" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"message":"who are you"}`))
			return
		}
		if want := r.URL.Path == "/telemetry/flush"; want != (r.Method == http.MethodPost) {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		_, _ = w.Write([]byte(answers[r.URL.RequestURI()]))
	}))
	t.Cleanup(srv.Close)
	tests := []struct {
		args      []string
		code      int
		want, not string
	}{
		{[]string{"status"}, 0, "u-1", ""},
		{[]string{"status"}, 0, "nowhere", ""},
		{[]string{"status"}, 0, "off until the next start after 3 bad windows", ""},
		{[]string{"status"}, 0, "c does not run: it clashes", ""},
		{[]string{"show"}, 0, "stays here", ""},
		{[]string{"show", "--raw"}, 0, `{"batch":[{"x":1}]}`, `"y"`},
		{[]string{"show", "--last", "1"}, 0, "no window has ended yet", ""},
		{[]string{"show", "--last", "2"}, 0, "window 9, sealed at 2026-11-21T08:00:00Z", ""},
		{[]string{"show", "--last", "2"}, 0, "\"x\": 5", ""},
		{[]string{"show", "--last", "2", "--raw"}, 0, "nine\neight", ""},
		{[]string{"show", "--last", "0"}, 2, "want how many windows", ""},
		{[]string{"show", "--last", "1", "--next"}, 2, "", ""},
		{[]string{"flush"}, 0, "window 4, sealed at 2026-11-21T08:20:00Z\ncollector a 1.0.0, window 4", ""},
		{[]string{"flush", "--json"}, 0, `"requests"`, ""},
		{[]string{"log"}, 0, "2026-11-21T08:00:01Z  HTTP 200 OK  77 bytes  https://p.example/v1/batch  window 8: a b window 9: a", "id-1"},
		{[]string{"log", "--ids"}, 0, "id-3", ""},
		{[]string{"export"}, 0, "\"instanceUid\": \"u-1\"", ""},
		{[]string{"explain", "a."}, 0, "Things.", "Others."},
		{[]string{"explain", "z"}, 1, "no collector that runs has a metric z", ""},
	}
	for _, tt := range tests {
		args := append([]string{"telemetry"}, tt.args...)
		code, out := parleySays(t, append(args, "--url", srv.URL, "--master-key", "a key of sixteen")...)
		if code != tt.code && !(tt.code == 2 && code != 0) || !strings.Contains(out, tt.want) || tt.not != "" && strings.Contains(out, tt.not) {
			t.Errorf("parley %s = %d\n%s\nwant %d, with %q and without %q", strings.Join(args, " "), code, out, tt.code, tt.want, tt.not)
		}
	}
	if code, out := parleySays(t, "telemetry", "status", "--url", srv.URL); code == 0 || !strings.Contains(out, "who are you") || !strings.Contains(out, "--master-key") {
		t.Errorf("status without a key = %d %q, want what to give", code, out)
	}
	answers["/telemetry"] = `{"on":true,"engine":{"collectors":[]}}`
	if code, out := parleySays(t, "telemetry", "status", "--url", srv.URL, "--master-key", "a key of sixteen"); code != 0 || !strings.Contains(out, "none runs") || !strings.Contains(out, "are built at a start") {
		t.Errorf("status without collectors = %d %q, want how to get some", code, out)
	}
	srv.Close()
	if code, out := parleySays(t, "telemetry", "status", "--url", srv.URL); code == 0 || !strings.Contains(out, "start one") {
		t.Errorf("status without a host = %d %q, want what to do", code, out)
	}
}
