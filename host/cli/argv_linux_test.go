package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestMasterKeyHidden: a master key of the command line works, and is not in what
// others see of the process.
func TestMasterKeyHidden(t *testing.T) {
	const key = "a master key of tests"
	for _, flag := range [][]string{{"--master-key", key}, {"--master-key=" + key}} {
		program, url := reexecServe(t, io.Discard, append(flag, "--db-path", t.TempDir(), "--plugin-dir", t.TempDir())...)
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", program.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(line, []byte(key)) || !bytes.Contains(line, []byte("--master-key")) || !bytes.Contains(line, []byte("--db-path")) {
			t.Errorf("%s: the command line is %q, want it without the key", flag[0], line)
		}
		if status := statusWith(t, url+"/indexes", key); status != 200 {
			t.Errorf("%s: the key is answered with %d", flag[0], status)
		}
		if status := statusWith(t, url+"/indexes", strings.Repeat("x", len(key))); status != 403 {
			t.Errorf("%s: what stands in its place is answered with %d", flag[0], status)
		}
	}
}

// TestSecretFlagsWarn names each secret that came by the command line, and not
// what it is.
func TestSecretFlagsWarn(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop() // it ends as soon as it runs
	var said bytes.Buffer
	run(ctx, []string{"serve", "--http-addr", "127.0.0.1:0", "--master-key", "a master key of tests", "--db-path", t.TempDir(), "--plugin-dir", t.TempDir()}, io.Discard, &said)
	if !strings.Contains(said.String(), "--master-key on the command line") || !strings.Contains(said.String(), "PARLEY_MASTER_KEY") || strings.Contains(said.String(), "a master key of tests") {
		t.Errorf("the program says %s, want a warning without the key", said.String())
	}
}

// statusWith is the status of a GET with a key.
func statusWith(t *testing.T, url, key string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = a.Body.Close()
	return a.StatusCode
}
