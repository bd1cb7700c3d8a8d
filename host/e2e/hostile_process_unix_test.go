//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

const hostKey = "a master key of 26 bytes.."

// A hosted is the program that serves, in a process of its own which strangers may try
// to end.
type hosted struct {
	t      testing.TB
	url    string
	client *http.Client // of strangers
	prober *http.Client // of somebody else, at another address
	log    string
	ended  chan struct{}
	why    error // of the end
	cmd    *exec.Cmd
}

// program builds the program once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "parley-program")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "parley")
	build := exec.Command("go", "build", "-o", file, "../../cmd/parley")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released; a C library takes addresses for each thread
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return file, nil
})

// startHosted starts the program under limits, as the shell's ulimit has them.
func startHosted(t testing.TB, limits string, env ...string) *hosted {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	addr, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := addr.Addr().String()
	_ = addr.Close() // for the program
	h := &hosted{t: t, url: "http://" + at, log: filepath.Join(dir, "log"), ended: make(chan struct{}), client: clientAt("127.0.0.3"), prober: clientAt("127.0.0.2")}
	log, err := os.Create(h.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	// A fuzzing process waits for the end of the pipes that its workers have as 3 to 5, for ever where the
	// program of a worker that was ended holds them.
	h.cmd = exec.Command("sh", "-c", limits+`exec "$0" serve 3>&- 4>&- 5>&-`, file)
	h.cmd.Dir, h.cmd.Stdout, h.cmd.Stderr = dir, log, log
	h.cmd.Env = append(os.Environ(), append([]string{
		"PARLEY_NO_ANALYTICS=true", "PARLEY_MASTER_KEY=" + hostKey, "PARLEY_HTTP_ADDR=" + at, "PARLEY_DB_PATH=" + filepath.Join(dir, "data"),
		"PARLEY_PLUGIN_DIR=" + filepath.Join(dir, "plugins"), "PARLEY_PLUGIN_API=true", "PARLEY_PLUGIN_CACHE_DIR=" + house.CompiledModules(t), "PARLEY_LOG_LEVEL=warn",
	}, env...)...)
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		h.why = h.cmd.Wait()
		close(h.ended)
	}()
	t.Cleanup(func() {
		h.check()
		_ = h.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
		<-h.ended
	})
	if !waittest.Until(func() bool { return h.health() == nil }) {
		t.Fatalf("the program does not answer:\n%s", h.said())
	}
	return h
}

// clientAt is a client at an address of this machine, with a connection for each request.
func clientAt(ip string) *http.Client {
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: from.DialContext}}
}

// said is the end of what the program wrote.
func (h *hosted) said() string {
	b, _ := os.ReadFile(h.log)
	return string(b[max(0, len(b)-4000):])
}

// check fails the test where the process has ended.
func (h *hosted) check() {
	h.t.Helper()
	select {
	case <-h.ended:
		h.t.Errorf("the process ended: %v\n%s", h.why, h.said())
	default:
	}
}

func (h *hosted) health() error {
	res, err := h.prober.Get(h.url + "/health")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

// send sends a request, reads its answer to the end and returns its status; 0: none came.
func (h *hosted) send(method, path string, body []byte, header ...string) (status int, answer int64) {
	req, err := http.NewRequest(method, h.url+path, bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+hostKey)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := h.client.Do(req)
	if err != nil {
		return 0, 0
	}
	defer res.Body.Close()
	n, _ := io.Copy(io.Discard, res.Body)
	return res.StatusCode, n
}

// must sends what has to be accepted.
func (h *hosted) must(method, path, body string) {
	h.t.Helper()
	if status, _ := h.send(method, path, []byte(body)); status < 200 || status >= 300 {
		h.t.Fatalf("%s %s = %d", method, path, status)
	}
}

// idle waits until no task is under way.
func (h *hosted) idle() {
	h.t.Helper()
	if !waittest.Until(func() bool {
		res, err := h.client.Do(h.authorized("/tasks?statuses=enqueued,processing"))
		if err != nil {
			return false
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		return strings.Contains(string(b), `"total":0`)
	}) {
		h.t.Fatal("tasks do not end")
	}
}

func (h *hosted) authorized(path string) *http.Request {
	req, err := http.NewRequest(http.MethodGet, h.url+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+hostKey)
	return req
}

// resident is how many bytes of memory the process has; 0: unknown.
func (h *hosted) resident() int64 { return h.status("VmRSS:") }

// status is a size of the process in bytes, by its name in /proc; 0: unknown.
func (h *hosted) status(name string) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.cmd.Process.Pid))
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}

// A entrance is a way in for what strangers send, and something that comes in by it.
type entrance struct{ method, path, mime, body string }

// entrances are those that read a body.
var entrances = func() []entrance {
	const j = "application/json"
	mcp := func(method, params string) entrance {
		return entrance{"POST", "/mcp", j, `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + params + `}}`}
	}
	chat := `"messages":[{"role":"system","content":"Be short."},{"role":"user","content":[{"type":"text","text":"Hi"}]},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"temperature":0.5,"stop":["x"],"max_tokens":5`
	form := "multipart/form-data; boundary=b"
	part := func(name, text string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name + "\"\r\n\r\n" + text + "\r\n--b--\r\n"
	}
	return []entrance{
		mcp("initialize", `"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}`),
		mcp("tools/list", `"cursor":"x"`), mcp("ping", ""), mcp("server/discover", ""),
		mcp("tools/call", `"name":"search","arguments":null`),
		mcp("tools/call", `"name":"search","arguments":{"query":"film","index":"a","filter":"year > 1","limit":3},"_meta":{"progressToken":1}`),
		mcp("tools/call", `"name":"fetch","arguments":{"id":"a/1"}`), mcp("tools/call", `"name":"list_indexes"`),
		mcp("tools/call", `"name":"facet_values","arguments":{"index":"a","attribute":"year","query":"1"}`),
		mcp("tools/call", `"name":"ask","arguments":{"question":"Why?"}`),
		{"POST", "/v1/chat/completions", j, `{"model":"w",` + chat + `}`},
		{"POST", "/v1/responses", j, `{"model":"w","input":[{"role":"user","content":[{"type":"input_text","text":"Hi"}]},{"type":"function_call_output","call_id":"a","output":"x"}],"previous_response_id":"resp_1","include":["reasoning.encrypted_content"]}`},
		{"POST", "/v1/messages", j, `{"model":"w","max_tokens":5,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}`},
		{"POST", "/chats/w/chat/completions", j, `{"model":"m","stream":true,` + chat + `}`},
		{"POST", "/v1/messages/count_tokens", j, `{"model":"w","messages":[{"role":"user","content":"Hi"}]}`},
		{"POST", "/v1/completions", j, `{"model":"w","prompt":["Hi"],"max_tokens":5}`},
		{"POST", "/v1/embeddings", j, `{"model":"a/default","input":["Hi","there"],"dimensions":2,"encoding_format":"base64"}`},
		{"POST", "/chats/w/ui", j, `{"messages":[{"role":"user","parts":[{"type":"text","text":"Hi"},{"type":"file","mediaType":"image/png","url":"data:image/png;base64,AA=="}]},{"role":"assistant","parts":[{"type":"step-start"},{"type":"tool-f","toolCallId":"a","input":{},"output":"x"}]}],"tools":[]}`},
		{"POST", "/chats/w/feedback", j, `{"id":"x","rating":"up","question":"q","files":["a"],"searches":[{"indexUid":"a","q":"x"}]}`},
		{"POST", "/chats/w/guards/test", j, `{"stage":"question","text":"mail me at a@example.org","guards":[{"name":"mask"}]}`},
		{"POST", "/chats/w/models", j, `{"source":"vLlm","baseUrl":"http://127.0.0.1:9/"}`},
		{"POST", "/chats/w/test", j, `{"source":"vLlm","baseUrl":"http://127.0.0.1:9/"}`},
		{"PATCH", "/chats/w/settings", j, `{"source":"vLlm","baseUrl":"http://127.0.0.1:9/","prompts":{"system":"x"},"limits":{"parallel":3}}`},
		{"POST", "/indexes/a/search", j, `{"q":"\"film one\" -two","filter":["year > 1",["name = x","NOT year EXISTS"]],"sort":["year:asc"],"facets":["*"],"attributesToHighlight":["*"],"attributesToCrop":["name:2"],"showMatchesPosition":true,"showRankingScoreDetails":true,"page":1,"hitsPerPage":2,"passages":{}}`},
		{"POST", "/indexes/a/facet-search", j, `{"facetName":"year","facetQuery":"1","q":"film"}`},
		{"POST", "/indexes/a/similar", j, `{"id":1,"embedder":"default"}`},
		{"POST", "/multi-search", j, `{"federation":{"limit":3,"facetsByIndex":{"a":["year"]},"mergeFacets":{"maxValuesPerFacet":2}},"queries":[{"indexUid":"a","q":"film","federationOptions":{"weight":2}},{"indexUid":"a","vector":[1,2]}]}`},
		{"POST", "/indexes/a/documents", j, `[{"id":9,"name":"Nine","_geo":{"lat":1,"lng":2},"_vectors":{"default":[1,2]},"deep":{"a":[{"b":1}]}}]`},
		{"PUT", "/indexes/a/documents", "application/x-ndjson", "{\"id\":1,\"x\":2}\n{\"id\":2}\n"},
		{"POST", "/indexes/a/documents?csvDelimiter=;", "text/csv", "id:number;name\n1;\"a;b\"\n2;c\n"},
		{"POST", "/indexes/a/documents/fetch", j, `{"limit":3,"filter":"year > 1","ids":[1,"2"],"fields":["name"],"sort":["year:desc"]}`},
		{"POST", "/indexes/a/documents/delete-batch", j, `[77,"78"]`},
		{"POST", "/indexes/a/documents/delete", j, `{"filter":"year > 3000"}`},
		{"PATCH", "/indexes/a/settings", j, `{"filterableAttributes":["year",{"attributePatterns":["n*"],"features":{"facetSearch":true}}],"synonyms":{"a":["b"]},"embedders":{"default":{"source":"userProvided","dimensions":2}},"typoTolerance":{"minWordSizeForTypos":{"oneTypo":5}},"chat":{"documentTemplate":"{{ doc.name }}"}}`},
		{"POST", "/indexes/a/files", form, part("a.md", "# A\n\ntext {#id}\n")},
		{"POST", "/indexes/a/files", form, part("a.html", "<html><body><h1>A</h1><p>text<table><tr><td>x</table>")},
		{"POST", "/indexes/a/files", form, part("a.docx", "PK\x03\x04\x14\x00\x00\x00\x00\x00")},
		{"POST", "/indexes/a/files", form, part("a.eml", "From: a@example.org\r\nSubject: =?utf-8?B?QQ==?=\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\ntext\r\n--c--\r\n")},
		{"POST", "/indexes/a/files", form, part("a.rtf", "{\\rtf1\\ansi{\\fonttbl{\\f0 A;}}\\b text\\b0\\par \\u228?\\'e4}")},
		{"POST", "/indexes/a/files", form, part("a.ipynb", `{"cells":[{"cell_type":"markdown","source":["# A"]}],"nbformat":4,"metadata":{}}`)},
		{"POST", "/plugins/check/file", form, part("a-1.0.0.wasm", "\x00asm\x01\x00\x00\x00\x00\x05\x04name")},
		{"POST", "/plugins/install/file", form, part("a-1.0.0.wasm", "\x00asm\x01\x00\x00\x00\x00\x05\x04name")},
		{"POST", "/plugins/diff/file", form, part("a-1.0.0.wasm", "\x00asm\x01\x00\x00\x00")},
		{"POST", "/render-template", j, `{"template":{"kind":"inlineDocumentTemplate","inline":"{{ doc.name }}"},"input":{"kind":"inlineDocument","inline":{"name":"x"}}}`},
		{"POST", "/keys", j, `{"actions":["search"],"indexes":["*"],"expiresAt":null,"limits":{"requestsPerMinute":1}}`},
		{"PATCH", "/network", j, `{"self":"x","remotes":{"y":{"url":"http://127.0.0.1:9"}}}`},
		{"POST", "/swap-indexes", j, `[{"indexes":["a","b"]}]`},
	}
}()

// mutate changes a value of JSON in a few places: members twice, in other case, values
// of another type, very deep and very long ones.
func mutate(rng *rand.Rand, body []byte) []byte {
	var v any
	if rng.IntN(4) == 0 || json.Unmarshal(body, &v) != nil {
		return mutateBytes(rng, body)
	}
	out, err := json.Marshal(mutateValue(rng, v, 0))
	if err != nil {
		return body
	}
	if rng.IntN(3) == 0 { // a member twice, or in another case
		if at := bytes.IndexByte(out, '{'); at >= 0 {
			names := []string{"params", "Params", "arguments", "ARGUMENTS", "method", "model", "Model", "messages", "q", "queries", "id", "limit", "_meta", "name"}
			out = slices.Insert(out, at+1, []byte(`"`+names[rng.IntN(len(names))]+`":`+odd[rng.IntN(len(odd))]+`,`)...)
		}
	}
	return out
}

// odd are values that stand where others are waited for.
var odd = []string{
	"null", "[]", "{}", `""`, "0", "-1", "1e308", "-0.0", "9223372036854775808", "1.5", "true", `"\u0000"`, `"\ud800"`, `[[]]`, `{"":{"":null}}`, `"*"`, `"a.b.c"`, `[null]`, `[1e999]`,
	strings.Repeat("[", 200) + strings.Repeat("]", 200), `"` + strings.Repeat("x", 5000) + `"`, `"` + strings.Repeat("(", 2000) + `"`, `["` + strings.Repeat(`x","`, 300) + `"]`,
}

func mutateValue(rng *rand.Rand, v any, depth int) any {
	if rng.IntN(6) == 0 && depth > 0 {
		return json.RawMessage(odd[rng.IntN(len(odd))])
	}
	switch x := v.(type) {
	case map[string]any:
		for k := range x {
			switch rng.IntN(12) {
			case 0:
				delete(x, k)
			default:
				x[k] = mutateValue(rng, x[k], depth+1)
			}
		}
	case []any:
		for i := range x {
			x[i] = mutateValue(rng, x[i], depth+1)
		}
		if len(x) > 0 && rng.IntN(8) == 0 {
			return slices.Repeat(x, 50)
		}
	}
	return v
}

func mutateBytes(rng *rand.Rand, body []byte) []byte {
	out := slices.Clone(body)
	for range 1 + rng.IntN(8) {
		if len(out) == 0 {
			return out
		}
		at := rng.IntN(len(out))
		switch rng.IntN(4) {
		case 0:
			out[at] = byte(rng.UintN(256))
		case 1:
			out = slices.Delete(out, at, min(len(out), at+1+rng.IntN(8)))
		case 2:
			out = slices.Insert(out, at, out[at:min(len(out), at+1+rng.IntN(32))]...)
		default:
			out = slices.Insert(out, at, []byte(odd[rng.IntN(len(odd))])...)
		}
	}
	return out
}

// FuzzHostileProcess sends what strangers might to a process, which must not end. DOOR names a part of the
// paths that are sent to, such as "/mcp"; all without it.
func FuzzHostileProcess(f *testing.F) {
	doors := slices.DeleteFunc(slices.Clone(entrances), func(e entrance) bool { return !strings.Contains(e.path, os.Getenv("DOOR")) })
	if len(doors) == 0 {
		f.Fatalf("no path has %q in it", os.Getenv("DOOR"))
	}
	h := startHosted(f, "")
	h.must("PATCH", "/experimental-features", `{"feedback":true,"network":true}`)
	file, err := program()
	if err != nil {
		f.Fatal(err)
	}
	module := filepath.Join(f.TempDir(), "vllm.wasm")
	if err := os.WriteFile(module, house.Shipped(f, "vllm"), 0o600); err != nil {
		f.Fatal(err)
	}
	if out, err := exec.Command(file, "plugin", "install", module, "--plugin-dir", filepath.Join(h.cmd.Dir, "plugins"), "--grant", "--new-lock").CombinedOutput(); err != nil {
		f.Fatalf("install: %v\n%s", err, out)
	}
	if !waittest.Until(func() bool {
		status, _ := h.send("PATCH", "/chats/w/settings", []byte(`{"source":"vLlm","baseUrl":"http://127.0.0.1:9/"}`))
		return status == http.StatusOK
	}) {
		f.Fatalf("no plugin answers:\n%s", h.said())
	}
	h.must("PATCH", "/indexes/a/settings", `{"filterableAttributes":["year","name"],"sortableAttributes":["year"]}`)
	h.must("POST", "/indexes/a/documents", `[{"id":1,"name":"film one","year":1990},{"id":2,"name":"film two","year":2000}]`)
	h.idle()
	for i, d := range doors {
		for how := range 12 {
			f.Add(byte(i), uint64(how), []byte(d.body))
		}
	}
	f.Fuzz(func(t *testing.T, at byte, how uint64, body []byte) {
		d := doors[int(at)%len(doors)]
		if how > 0 {
			body = mutate(rand.New(rand.NewPCG(how, uint64(at))), body)
		}
		h.send(d.method, d.path, body, "Content-Type", d.mime)
		select {
		case <-h.ended:
			t.Fatalf("%s %s with %q ended the process: %v\n%s", d.method, d.path, body, h.why, h.said())
		default:
		}
	})
	if err := h.health(); err != nil {
		f.Errorf("health at the end = %v\n%s", err, h.said())
	}
}
