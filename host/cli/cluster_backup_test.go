package cli

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/cluster/natsd"
)

// TestClusterBackupPage does what the page of backups says of a cluster, by its own commands: a
// new cluster begins with the backup, and a node without data joins it.
func TestClusterBackupPage(t *testing.T) {
	if os.Getenv(longVariable) == "" {
		t.Skip("runs three servers of NATS and three hosts: LONG=1 runs it")
	}
	page, err := os.ReadFile("../docs/how-to/backups.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), "\n## Of a cluster\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1)
	if !ok || len(blocks) != 2 {
		t.Fatalf("the section has %d blocks of commands, want that of the backup and that of the restore", len(blocks))
	}
	servers, err := natsd.Start(t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Close)
	dir, urls := t.TempDir(), strings.Join(servers.URLs(), ",")
	const key = "a master key of 26 bytes.."
	for name, value := range map[string]string{"MASTER_KEY": key, "NO_ANALYTICS": "true", "CLUSTER_NATS_SYNCED": "true", "PLUGIN_LOCK": "off"} {
		t.Setenv("PARLEY_"+name, value)
	}
	restored, url := filepath.Join(dir, "restored"), ""
	do := func(line string) {
		t.Helper()
		line = strings.NewReplacer("http://NODE:7700", url, "tls://NATS:4222", urls, "docs.backup", filepath.Join(dir, "docs.backup"), "/var/lib/parley/data", restored).Replace(line)
		var out, stderr strings.Builder
		if code := run(t.Context(), strings.Fields(line)[1:], &out, &stderr); code != 0 {
			t.Fatalf("%s: exit status %d, %s%s", line, code, out.String(), stderr.String())
		}
	}
	follow := func(data string) (c *cmdutil.Client, end func()) {
		t.Helper()
		node, at := reexecServe(t, io.Discard, "--db-path", data, "--plugin-dir", filepath.Join(data, "plugins"), "--cluster-name", "docs", "--cluster-nats", urls)
		c, url = &cmdutil.Client{URL: at, Key: key}, at
		waittest.For(t, "the node is ready", func() bool { return c.Call(t.Context(), http.MethodGet, "/ready", nil, new(any)) == nil })
		return c, func() {
			if err := node.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			_ = node.Wait()
		}
	}
	waittest.For(t, "the log is made", func() bool { // JetStream has to elect somebody first
		return run(t.Context(), []string{"cluster", "create", "--cluster-name", "docs", "--cluster-nats", urls}, new(strings.Builder), new(strings.Builder)) == 0
	})
	first, end := follow(filepath.Join(dir, "first"))
	waittest.For(t, "an index is asked for", func() bool { // once somebody leads
		return first.Call(t.Context(), http.MethodPost, "/indexes", map[string]string{"uid": "kept"}, new(any)) == nil
	})
	waittest.For(t, "the index is there", func() bool { return first.Call(t.Context(), http.MethodGet, "/indexes/kept", nil, new(any)) == nil })
	for line := range strings.Lines(blocks[0][1]) {
		do(line)
	}
	end()

	conn, err := nats.Connect(urls)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if m, err := conn.Request("$JS.API.STREAM.DELETE.PARLEY_docs_LOG", nil, 10*time.Second); err != nil || !strings.Contains(string(m.Data), `"success":true`) {
		t.Fatalf("delete the stream: %v, %v", m, err)
	}
	for line := range strings.Lines(blocks[1][1]) {
		do(line)
	}
	leader, _ := follow(restored)
	waittest.For(t, "the node leads", func() bool {
		var s httpapi.ClusterBody
		return leader.Call(t.Context(), http.MethodGet, "/cluster", nil, &s) == nil && s.Node.Role == "leader"
	})
	do("parley cluster snapshot --url http://NODE:7700")
	second, _ := follow(filepath.Join(dir, "second"))
	if err := second.Call(t.Context(), http.MethodGet, "/indexes/kept", nil, new(any)); err != nil {
		t.Errorf("a node that joins what the page restores: %v", err)
	}
}
