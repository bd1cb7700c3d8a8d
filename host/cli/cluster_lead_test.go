package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestClusterLead: what a cluster's leader is told to do, and that a snapshot which
// takes long is waited for.
func TestClusterLead(t *testing.T) {
	var asked []string
	answers := map[string]string{
		"POST /cluster/snapshot":            `{"message":70,"kept":12,"bytes":3,"done":false}`,
		"POST /cluster/snapshot?message=70": `{"message":70,"kept":71,"bytes":99,"done":true}`,
		"POST /cluster/resign":              `{"from":"n1","leader":"n2","term":8}`,
		"POST /cluster/upgrade":             `{"from":1,"to":2}`,
	}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		what := r.Method + " " + r.URL.String()
		asked = append(asked, what)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answers[what])
	}))
	defer service.Close()
	for line, want := range map[string]string{
		"snapshot":      "at message 71 is kept: 99 bytes",
		"resign":        "Node n2 leads in term 8, after node n1.",
		"resign --json": `"leader": "n2"`,
		"upgrade":       "in format 2 from now on; it was 1",
	} {
		var out, errs strings.Builder
		args := append([]string{"cluster"}, append(strings.Fields(line), "--url", service.URL, "--key", "k")...)
		if code := run(t.Context(), args, &out, &errs); code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("cluster %s: %d, %q %q, want %q", line, code, out.String(), errs.String(), want)
		}
	}
	if !slices.Contains(asked, "POST /cluster/snapshot?message=70") {
		t.Errorf("asked %q, want the snapshot to be asked for until it is kept", asked)
	}
	answers["POST /cluster/resign"] = `{"from":"n1","leader":null,"term":7}`
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"cluster", "resign", "--url", service.URL, "--key", "k"}, &out, &errs); code != 0 || !strings.Contains(out.String(), "No other node leads yet") {
		t.Errorf("cluster resign without a leader after it: %d, %q %q", code, out.String(), errs.String())
	}
}
