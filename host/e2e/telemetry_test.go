package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/testhook"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// chatsCollector builds the collector of the examples.
func chatsCollector(t testing.TB) []byte {
	t.Helper()
	return house.Built(t, filepath.Join("examples", "collector-smallest"))
}

// next returns what the window under way says so far, by collector.
func next(h *house.House) map[string]string {
	h.T.Helper()
	var page struct {
		Results []struct{ Collector, Body string }
	}
	r := h.Must("GET", "/telemetry/messages?of=next", "")
	if err := json.Unmarshal([]byte(r.Body), &page); err != nil {
		h.T.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range page.Results {
		all[m.Collector] = m.Body
	}
	return all
}

// TestTelemetry asks, and finds its chats counted; what was asked is nowhere.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds and compiles plugins, which takes long")
	}
	const canary = "QxCanary7731"
	h := house.Open(t, nil, house.Shipped(t, "extract"), chatsCollector(t))
	h.Must("PATCH", "/chats/"+canary+"/settings", `{"source": "extract"}`)
	for range 3 {
		h.Must("POST", "/chats/"+canary+"/chat/completions", `{"model": "`+canary+`", "stream": true, "messages": [{"role": "user", "content": "`+canary+`"}]}`)
	}
	h.Call("POST", "/chats/"+canary+"/chat/completions", `{"model": "x", "stream": true, "messages": []}`)
	var body string
	waittest.Until(func() bool {
		body = next(h)["chats"]
		return strings.Contains(body, `"answered":3`) && strings.Contains(body, `"refused":1`)
	})
	if !strings.Contains(body, `"chats":{"answered":3,"failed":0,"left":0,"refused":1,"tool_calls":0}`) {
		t.Errorf("the window says %s, want 3 chats answered and 1 refused", body)
	}
	status := h.Must("GET", "/telemetry", "").Body
	if !strings.Contains(status, `"on":true`) || !strings.Contains(status, `"outbound":true`) {
		t.Errorf("GET /telemetry = %s, want it on, with the embedded collector outbound", status)
	}
	if metrics := h.Must("GET", "/telemetry/metrics", "").Body; !strings.Contains(metrics, "chats.answered") {
		t.Errorf("GET /telemetry/metrics = %s, want the manifest's", metrics)
	}
	h.Close()

	uid, err := telemetry.ReadUID(h.Dir)
	if err != nil || !strings.Contains(h.Log.String(), uid.String()) {
		t.Errorf("the Instance UID %s, %v, is not in the log of the start", uid, err)
	}
	err = filepath.WalkDir(filepath.Join(h.Dir, telemetry.SpoolDir), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), canary) {
			t.Errorf("%s holds what was asked", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTelemetryOff: no event, no collector, no file, whatever says so.
//
//parley:option no-analytics
func TestTelemetryOff(t *testing.T) {
	h := house.Open(t, map[string]string{"no-analytics": "true"}, packedCollectorModule(t))
	if got := h.Must("GET", "/telemetry", "").Body; !strings.Contains(got, `"on":false`) || !strings.Contains(got, "--no-analytics") {
		t.Errorf("GET /telemetry = %s, want it off by the flag", got)
	}
	if got := h.Must("GET", "/plugins", "").Body; strings.Contains(got, "collector") {
		t.Errorf("GET /plugins = %s, want no collector loaded", got)
	}
	h.Close()
	for _, name := range []string{telemetry.SpoolDir, "instance-uid"} {
		if _, err := os.Stat(filepath.Join(h.Dir, name)); err == nil {
			t.Errorf("there is a file %s, want none", name)
		}
	}
	if !strings.Contains(h.Log.String(), "telemetry is off") {
		t.Error("the log of the start does not say that telemetry is off")
	}
}

// TestTelemetryBroken has a spool that cannot be opened: the host serves, and
// says why there is no telemetry.
func TestTelemetryBroken(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, telemetry.SpoolDir, []byte("a file where a folder belongs"))
	h := house.Open(t, map[string]string{"db-path": dir}, packedCollectorModule(t))
	if got := h.Must("GET", "/telemetry", "").Body; !strings.Contains(got, `"on":false`) || !strings.Contains(got, "a spool that cannot be opened") {
		t.Errorf("GET /telemetry = %s, want it off by the spool", got)
	}
	for _, path := range []string{"/telemetry/windows", "/telemetry/deliveries", "/telemetry/export", "/telemetry/messages"} {
		h.Must("GET", path, "")
	}
	if r := h.Call("POST", "/telemetry/verify", `{"port":1}`); r.Status != 400 || !strings.Contains(r.Body, "Telemetry is off") {
		t.Errorf("POST /telemetry/verify = %d %s, want that it is off", r.Status, r.Body)
	}
}

// TestTelemetryTwoHosts: a second host on the directory does not start, and the
// first one's telemetry does not notice.
func TestTelemetryTwoHosts(t *testing.T) {
	t.Parallel()
	h := house.Open(t, nil, packedCollectorModule(t))
	before := next(h)["counter"]
	c, _, err := config.Load(config.Sources{Flags: map[string]string{"db-path": h.Dir, "http-addr": "127.0.0.1:0"}, File: emptyFile(t)})
	if err != nil {
		t.Fatal(err)
	}
	c.PluginCacheDir = house.CompiledModules(t)
	if second, err := host.Open(t.Context(), c, host.Options{Version: "test"}); err == nil {
		second.Close()
		t.Fatal("a second host opened the directory")
	} else if !strings.Contains(err.Error(), h.Dir) {
		t.Errorf("a second host: %v, want which directory is in use", err)
	}
	if _, err := host.TelemetryDelete(h.Dir); err == nil {
		t.Error("telemetry was deleted below a running host")
	}
	if after := next(h)["counter"]; before == "" || after == "" {
		t.Errorf("the window says %q, and then %q", before, after)
	}
}

// packedCollectorModule is a hand-written collector, of version 1.0.0.
func packedCollectorModule(t *testing.T) []byte { return counter(t, "1.0.0", "") }

// counter is a hand-written collector of a version, with more metrics behind
// its own.
func counter(t *testing.T, version, more string) []byte {
	t.Helper()
	guest, err := os.ReadFile(filepath.Join("..", "internal", "plugin", "testdata", "collector.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	module, err := plugin.Pack(guest, []byte(`{"abi":1,"kind":"collector","name":"counter","version":"`+version+`","events":["http_request"],"metrics":[
		{"path":"requests","kind":"int","range":[0,1000],"meaning":"Requests.","aggregation":"sum","noData":"always","events":["http_request"]}`+more+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// TestTelemetryVariables says what switches telemetry off.
func TestTelemetryVariables(t *testing.T) {
	for environ, off := range map[string]bool{"DO_NOT_TRACK=1": true, "DO_NOT_TRACK=0": false, "PARLEY_NO_ANALYTICS=please": true, "PARLEY_NO_ANALYTICS=no": false} {
		c, _, err := config.Load(config.Sources{Environ: []string{environ}, File: emptyFile(t)})
		if err != nil {
			t.Errorf("LoadConfig with %s: %v", environ, err)
		}
		if c.Telemetry.Off != off || (c.Telemetry.OffBy != "") != off {
			t.Errorf("with %s telemetry is off: %v, by %q, want %v", environ, c.Telemetry.Off, c.Telemetry.OffBy, off)
		}
	}
}

func emptyFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "empty.toml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestTelemetryKeeps counts with a module in a process, and goes on in the
// next.
func TestTelemetryKeeps(t *testing.T) {
	t.Parallel()
	h := house.Open(t, nil, packedCollectorModule(t))
	for range 5 {
		h.Must("GET", "/version", "")
	}
	if got := next(h)["counter"]; !strings.Contains(got, `"requests":`) {
		t.Fatalf("the window says %q, want requests", got)
	}
	h.Close()
	c, _, err := config.Load(config.Sources{Flags: map[string]string{"db-path": h.Dir, "http-addr": "127.0.0.1:0"}, File: emptyFile(t)})
	if err != nil {
		t.Fatal(err)
	}
	hooks := &testhook.Hooks{}
	c.PluginCacheDir = house.CompiledModules(t)
	again, err := host.Open(t.Context(), c, host.Options{Embedded: [][]byte{packedCollectorModule(t)}, Version: "test", Hooks: hooks})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	<-again.Loaded()
	messages := hooks.Engine().Preview()
	if len(messages) != 1 || strings.Contains(string(messages[0].Body), `"requests":0`) {
		t.Errorf("the window in the next process says %s, want what was counted before", telemetry.Body(messages))
	}
}

// TestTelemetryNewMetric drops a version with one more metric into a running
// host: it goes on with the window, and says more of it.
func TestTelemetryNewMetric(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "counter-1.0.0.wasm", counter(t, "1.0.0", ""))
	h := house.Open(t, map[string]string{"plugin-dir": dir, "plugin-lock": "off"})
	for range 5 {
		h.Must("GET", "/version", "")
	}
	count := func() (n int) {
		var body struct {
			Properties struct{ Requests int }
		}
		if err := json.Unmarshal([]byte(next(h)["counter"]), &body); err != nil {
			t.Fatal(err)
		}
		return body.Properties.Requests
	}
	before := count()
	if before < 5 {
		t.Fatalf("the window has %d requests, want 5 at least", before)
	}
	place(t, dir, "counter-1.1.0.wasm", counter(t, "1.1.0", `,{"path":"gpu","kind":"bool","constant":false,"meaning":"No GPU.","aggregation":"constant","noData":"always"}`))
	h.Must("POST", "/plugins/reload", "")
	if got := next(h)["counter"]; !strings.Contains(got, `"gpu":false`) || !strings.Contains(got, `"version":"1.1.0"`) {
		t.Errorf("the window says %s, want the new metric", got)
	}
	if after := count(); after < before {
		t.Errorf("the window has %d requests after the swap and had %d before, want it to go on", after, before)
	}
	if got := h.Must("GET", "/telemetry/metrics", "").Body; !strings.Contains(got, "No GPU.") {
		t.Errorf("GET /telemetry/metrics = %s, want the new metric explained", got)
	}
	if got := h.Must("GET", "/telemetry", "").Body; !strings.Contains(got, `"outbound":false`) {
		t.Errorf("GET /telemetry = %s, want a collector of somebody else's kept on this machine", got)
	}
}

// TestTelemetryFlush ends windows of a built collector by hand: in development, and
// never in production.
func TestTelemetryFlush(t *testing.T) {
	h := house.Open(t, nil, packedCollectorModule(t))
	for range 5 {
		h.Must("GET", "/version", "")
	}
	var window struct {
		Window   uint64
		Messages []struct{ Body string }
	}
	flush := func() (requests int) {
		t.Helper()
		r := h.Must("POST", "/telemetry/flush", "")
		if err := json.Unmarshal([]byte(r.Body), &window); err != nil || len(window.Messages) != 1 {
			t.Fatalf("POST /telemetry/flush = %s, %v, want a window with one message", r.Body, err)
		}
		var m struct{ Properties struct{ Requests int } }
		if err := json.Unmarshal([]byte(window.Messages[0].Body), &m); err != nil {
			t.Fatal(err)
		}
		return m.Properties.Requests
	}
	if n := flush(); window.Window != 1 || n < 5 {
		t.Errorf("window %d has %d requests, want window 1 with 5 at least", window.Window, n)
	}
	if n := flush(); window.Window != 2 || n > 1 {
		t.Errorf("window %d has %d requests, want window 2 with that of the flush alone", window.Window, n)
	}
	if got := h.Must("GET", "/telemetry/windows?limit=9", "").Body; !strings.Contains(got, `"total":2`) || !strings.Contains(got, `"window":2`) {
		t.Errorf("GET /telemetry/windows = %s, want both windows", got)
	}
	h.Close()

	h = house.Open(t, map[string]string{"env": "production", "master-key": "a key of sixteen"}, packedCollectorModule(t))
	h.Key = "a key of sixteen"
	if r := h.Call("POST", "/telemetry/flush", ""); r.Status != 403 || !strings.Contains(r.Body, "telemetry_flush_disabled") || !strings.Contains(r.Body, "--env production") {
		t.Errorf("POST /telemetry/flush in production = %d %s, want 403", r.Status, r.Body)
	}
	if got := h.Must("GET", "/telemetry/windows", "").Body; !strings.Contains(got, `"total":0`) {
		t.Errorf("GET /telemetry/windows = %s, want that no window ended", got)
	}
}

// TestTelemetryDeleted deletes telemetry of a host that runs: it counts nothing from
// then on, no file keeps what was counted, and the next start is off as well.
func TestTelemetryDeleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := house.Open(t, map[string]string{"db-path": dir, "telemetry-contact": "privacy@example.com"}, packedCollectorModule(t))
	h.Must("PATCH", "/experimental-features", `{"metrics":true}`)
	h.Must("POST", "/telemetry/flush", "")
	var was struct{ InstanceUID string }
	if err := json.Unmarshal([]byte(h.Must("GET", "/telemetry", "").Body), &was); err != nil || len(was.InstanceUID) != 36 {
		t.Fatalf("the Instance UID is %q, %v", was.InstanceUID, err)
	}
	kept := func() (files string) {
		t.Helper()
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			b, err := readData(path)
			if bytes.Contains(b, []byte(was.InstanceUID)) {
				files += path + " "
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return files
	}
	if kept() == "" {
		t.Error("no file has the UID, so that nothing is shown below")
	}
	got := strings.TrimSpace(h.Must("DELETE", "/telemetry", "").Body)
	if want := fmt.Sprintf(`{"instanceUid":%q,"contact":"privacy@example.com"}`, was.InstanceUID); got != want {
		t.Errorf("DELETE /telemetry = %s, want %s", got, want)
	}
	if got := strings.TrimSpace(h.Must("DELETE", "/telemetry", "").Body); got != `{"contact":"privacy@example.com"}` {
		t.Errorf("DELETE /telemetry again = %s, want no UID", got)
	}
	for path, want := range map[string]string{
		"/telemetry": `{"on":false,"offBy":"its deletion"}`, "/telemetry/windows": `"total":0`, "/telemetry/messages?of=pending": `"results":[]`,
		"/telemetry/metrics": `"results":[]`, "/metrics": "parley_telemetry_on 0",
	} {
		if got := h.Must("GET", path, "").Body; !strings.Contains(got, want) {
			t.Errorf("GET %s after that = %s, want %s", path, got, want)
		}
	}
	if files := kept(); files != "" {
		t.Errorf("the UID is still in %s", files)
	}
	h.Close()
	h = house.Open(t, map[string]string{"db-path": dir}, packedCollectorModule(t))
	if got := h.Must("GET", "/telemetry", "").Body; !strings.Contains(got, "parley telemetry off") {
		t.Errorf("GET /telemetry after the next start = %s, want off", got)
	}
}

// readData reads a file but for its holes, where the system tells of them: Badger's
// log of values is 2 GiB long while it is open, and nearly all of that is hole.
func readData(path string) (b []byte, err error) {
	if runtime.GOOS != "linux" {
		return os.ReadFile(path)
	}
	const seekData, seekHole = 3, 4 // lseek(2)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for end := int64(0); ; {
		start, err := f.Seek(end, seekData)
		if errors.Is(err, syscall.ENXIO) {
			return b, nil // no data comes any more
		}
		if err == nil {
			end, err = f.Seek(start, seekHole)
		}
		if err != nil {
			return b, err
		}
		piece, err := io.ReadAll(io.NewSectionReader(f, start, end-start))
		b = append(b, piece...)
		if err != nil {
			return b, err
		}
	}
}

// TestTelemetryLabels chats beside the example that counts by source, and finds the
// source's value in its message and, as a label, in GET /metrics.
func TestTelemetryLabels(t *testing.T) {
	t.Parallel()
	build := func(dir string) []byte { return house.Built(t, filepath.Join("examples", dir)) }
	h := house.Open(t, map[string]string{"experimental-enable-metrics": "true"}, build("provider-smallest"), build("collector-go"))
	h.Must("PATCH", "/chats/one/settings", `{"source":"smallest"}`)
	for range 3 {
		if r, _ := h.Ask("one", "m"); r.Status != 200 {
			t.Fatalf("POST /chats/one/chat/completions = %d %s", r.Status, r.Body)
		}
	}
	window := h.Must("POST", "/telemetry/flush", "").Body
	if !strings.Contains(window, `\"latency_by_source\":{\"smallest\":`) || !strings.Contains(window, `\"chats\":`) {
		t.Errorf("POST /telemetry/flush = %s, want the latency of smallest", window)
	}
	metrics := h.Must("GET", "/metrics", "").Body
	if want := `parley_usage_talk_go_talk_latency_by_source{collector="talk-go",path="talk.latency_by_source",source="smallest",text=""} `; !strings.Contains(metrics, want) {
		t.Errorf("GET /metrics has no %s", want)
	}
}
