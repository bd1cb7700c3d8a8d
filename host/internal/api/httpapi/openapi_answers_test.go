package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/parley-search/parley/host/e2e/garbage"
)

// described is openapi.json as the tests hold answers to it: objects whose
// further fields are not described have none.
var described = sync.OnceValue(func() *description {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		panic(err)
	}
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	closeObjects(raw)
	if text, err = json.Marshal(raw); err != nil {
		panic(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("openapi.json", raw); err != nil {
		panic(err)
	}
	d := &description{doc: doc, mu: new(sync.Mutex), compiler: c, schemas: map[string]*jsonschema.Schema{}, seen: map[string]bool{}}
	for path := range doc.Paths.Map() {
		pattern := regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), "[^/]+")
		if strings.HasPrefix(path, "/v1/models/") {
			pattern = "/v1/models/.+"
		}
		d.paths = append(d.paths, describedPath{path, regexp.MustCompile("^" + pattern + "/?$")})
	}
	slices.SortFunc(d.paths, func(a, b describedPath) int { // one without parameters comes first
		return strings.Compare(strings.ReplaceAll(a.path, "{", "~"), strings.ReplaceAll(b.path, "{", "~"))
	})
	return d
})

type description struct {
	doc   *openapi3.T
	paths []describedPath

	mu       *sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by where they are in the file
	seen     map[string]bool               // "operationId status" of the answers so far
}

type describedPath struct {
	path    string
	pattern *regexp.Regexp
}

// closeObjects closes every schema with properties that is not open by its own
// word.
func closeObjects(v any) {
	switch v := v.(type) {
	case object:
		if _, ok := v["properties"].(object); ok && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, in := range v {
			closeObjects(in)
		}
	case []any:
		for _, in := range v {
			closeObjects(in)
		}
	}
}

// An operationAt is an operation and where it is in the file.
type operationAt struct {
	*openapi3.Operation
	pointer string
}

// pointer is where the parts of a path are in the file.
func pointer(parts ...string) string {
	for i := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(parts[i], "~", "~0"), "/", "~1")
	}
	return "/" + strings.Join(parts, "/")
}

// operation returns what describes a request; nil: no route is for it.
func (d *description) operation(req *http.Request) *operationAt {
	method := req.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, p := range d.paths {
		if p.pattern.MatchString(req.URL.EscapedPath()) {
			if op := d.doc.Paths.Value(p.path).GetOperation(method); op != nil {
				return &operationAt{op, pointer("paths", p.path, strings.ToLower(method))}
			}
		}
	}
	return nil
}

// A checkedTransport holds every answer to the description of its operation, and
// every request that was answered well.
type checkedTransport struct {
	tb   testing.TB
	next *http.Transport
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] calls.
func (c *checkedTransport) CloseIdleConnections() { c.next.CloseIdleConnections() }

// RoundTrip implements [http.RoundTripper].
func (c *checkedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := c.next.RoundTrip(req)
	if err != nil {
		return res, err
	}
	if op := described().operation(req); op != nil && req.Method != http.MethodHead && res.StatusCode != http.StatusMethodNotAllowed {
		if res.StatusCode < 300 {
			c.checkRequest(req, op)
		}
		res.Body = &checkedBody{ReadCloser: res.Body, transport: c, req: req, res: res, op: op}
	}
	return res, nil
}

// A checkedBody checks what was read of an answer, at its end.
type checkedBody struct {
	io.ReadCloser
	read      bytes.Buffer
	whole     bool
	checked   bool
	transport *checkedTransport
	req       *http.Request
	res       *http.Response
	op        *operationAt
}

func (b *checkedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Write(p[:n])
	if err == io.EOF {
		b.whole = true
		b.finish()
	}
	return n, err
}

// Close implements [io.Closer].
func (b *checkedBody) Close() error {
	b.finish()
	return b.ReadCloser.Close()
}

func (b *checkedBody) finish() {
	if b.checked {
		return
	}
	b.checked = true
	if err := described().checkAnswer(b.op, b.res, b.read.Bytes(), b.whole); err != nil {
		b.transport.tb.Errorf("%s %s: the answer %d is not as openapi.json says: %v\n%.600s", b.req.Method, b.req.URL.Path, b.res.StatusCode, err, b.read.Bytes())
	}
}

func (d *description) checkAnswer(op *operationAt, res *http.Response, body []byte, whole bool) error {
	status := strconv.Itoa(res.StatusCode)
	described := op.Responses.Value(status)
	if described == nil {
		if res.StatusCode < 400 {
			return fmt.Errorf("it has no such status")
		}
		status, described = "default", op.Responses.Default()
	}
	d.mu.Lock()
	d.seen[op.OperationID+" "+status] = true
	d.mu.Unlock()
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	if len(described.Value.Content) == 0 {
		if len(body) > 0 {
			return fmt.Errorf("it has a body")
		}
		return nil
	}
	content := described.Value.Content[kind]
	switch {
	case content == nil:
		return fmt.Errorf("its content type %q is not described", kind)
	case res.Header.Get("Content-Encoding") != "" || !whole && kind != "text/event-stream" || kind == "text/plain" || kind == "text/html" || kind == "application/x-ndjson":
		return nil
	case kind == "text/event-stream":
		return d.checkEvents(content, body)
	}
	return d.checkJSON(op.pointer+pointer("responses", status, "content", kind, "schema"), body)
}

// checkEvents holds each whole event's data to the schema that is named for it.
func (d *description) checkEvents(content *openapi3.MediaType, body []byte) error {
	named, _ := content.Extensions["x-event-schema"].(map[string]any)
	ref, _ := named["$ref"].(string)
	at, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return fmt.Errorf("x-event-schema names no schema: %v", content.Extensions)
	}
	events := strings.Split(string(body), "\n\n")
	for _, event := range events[:len(events)-1] {
		for line := range strings.Lines(event) {
			data, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "data: ")
			if !ok || data == "[DONE]" {
				continue
			}
			if err := d.checkJSON(at, []byte(data)); err != nil {
				return fmt.Errorf("event %s: %w", data, err)
			}
		}
	}
	return nil
}

// checkJSON holds text to the schema at a place in the file.
func (d *description) checkJSON(at string, text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	schema := d.schemas[at]
	if schema == nil {
		if schema, err = d.compiler.Compile("openapi.json#" + at); err != nil {
			return err
		}
		d.schemas[at] = schema
	}
	return schema.Validate(v)
}

// checkRequest holds the body of a request that was taken to its description,
// which is too narrow otherwise.
func (c *checkedTransport) checkRequest(req *http.Request, op *operationAt) {
	kind, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	if req.GetBody == nil || op.RequestBody == nil || req.Header.Get("Content-Encoding") != "" || strings.Contains(req.Header.Get("X-Parley-Hop"), " ") || kind != "application/json" {
		return
	}
	content := op.RequestBody.Value.Content[kind]
	if content == nil {
		c.tb.Errorf("%s %s: a body of %q is taken, and openapi.json does not describe it", req.Method, req.URL.Path, kind)
		return
	}
	body, err := req.GetBody()
	check(c.tb, err)
	text, err := io.ReadAll(body)
	check(c.tb, err)
	if len(bytes.TrimSpace(text)) == 0 || len(text) > 1<<20 {
		return
	}
	if err := described().checkJSON(op.pointer+pointer("requestBody", "content", kind, "schema"), text); err != nil {
		c.tb.Errorf("%s %s: a body was taken that is not as openapi.json says: %v\n%.600s", req.Method, req.URL.Path, err, text)
	}
}

// unseen are the answers that no test of this package gets, and why.
var unseen = map[string]string{
	"reloadPlugins 500":   "the deployment is the host's: host/e2e TestReload",
	"verifyTelemetry 200": "so are collectors with something to say: host/e2e TestTelemetrySeen",
}

// TestMain looks at the end of all tests, where none is left out, which of the described answers nobody
// has seen.
func TestMain(m *testing.M) {
	garbage.Seldom()
	code := m.Run()
	all := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" && flag.Lookup("test.list").Value.String() == "" && flag.Lookup("test.fuzz").Value.String() == ""
	if code == 0 && all && !testing.Short() {
		code = described().checkSeen()
	}
	os.Exit(code)
}

func (d *description) checkSeen() (code int) {
	known := map[string]bool{}
	for _, path := range d.doc.Paths.Map() {
		for _, op := range path.Operations() {
			for status := range op.Responses.Map() {
				if status != "default" { // what may happen to any request
					known[op.OperationID+" "+status] = true
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !d.seen[name] && unseen[name] == "" {
			fmt.Printf("openapi.json describes an answer that no test gets: %s: test it, or put it into unseen with the reason\n", name)
			code = 1
		}
	}
	for name := range unseen {
		if !known[name] || d.seen[name] {
			fmt.Printf("%s stands in unseen, and is seen or not described\n", name)
			code = 1
		}
	}
	return code
}
