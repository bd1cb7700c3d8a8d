package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search/embed"
)

// An Embedder says where the vectors of an index's documents and queries come
// from.
type Embedder struct {
	Source          EmbedderSource
	URL             string
	Key             SealedKey
	Dimensions      int // 0: as many as the first answer has
	BinaryQuantized bool
	// DocumentTemplate is Liquid; "": the searchable attributes.
	DocumentTemplate string
	MaxBytes         int // of a rendered document
	// Request and Response are the bodies with the places of text and vector;
	// see [TextPlace].
	Request, Response json.RawMessage
	Headers           map[string]string
	Distribution      *Distribution
}

// An EmbedderSource is a way to get vectors.
type EmbedderSource string

// The sources, by their names on the wire.
const (
	UserProvided EmbedderSource = "userProvided" // the documents bring them, in _vectors
	Rest         EmbedderSource = "rest"         // an HTTP API makes them
)

// Where text and vector stand in Embedder.Request and Embedder.Response. In an
// array, MorePlace behind one of them says that several may stand there.
const (
	TextPlace      = "{{text}}"
	EmbeddingPlace = "{{embedding}}"
	MorePlace      = "{{..}}"
)

// A Distribution is what scores of an embedder are like, to make those of
// several comparable.
type Distribution struct {
	Mean, Sigma float64
}

const (
	maxEmbedders  = 32
	maxDimensions = 8192
	maxURL        = 4 << 10
	maxHeaders    = 50
	maxHeaderText = 8 << 10
)

func newEmbedder() Embedder { return Embedder{MaxBytes: defaultMaxBytes} }

// embeddersSetting is the one setting that holds secrets.
func embeddersSetting() setting {
	st := of("embedders", "embedders", apierr.InvalidSettingsEmbedders,
		func(s *Settings) *map[string]Embedder { return &s.Embedders }, readEmbedders).patched()
	st.shown = func(s *Settings) any { return wireEmbedders(s.Embedders, false) }
	st.kept = func(s *Settings) any { return wireEmbedders(s.Embedders, true) }
	st.check = func(s *Settings) error { return checkEmbedders(s.Embedders) }
	return st
}

// readEmbedders reads an object over what dst has: null takes an embedder out.
func readEmbedders(v value, dst *map[string]Embedder) error {
	all := maps.Clone(*dst)
	err := v.members(func(name string, v value) error {
		if name == "" || len(name) > maxName || strings.ContainsAny(name, ".*") {
			return fmt.Errorf("`embedders` has the key %.100q, which must be a name of at most %d bytes without \".\" and \"*\"", name, maxName)
		}
		if v.null() {
			delete(all, name)
			return nil
		}
		e, ok := all[name]
		if !ok {
			e = newEmbedder()
		}
		err := e.patch(v)
		all[name] = e
		return err
	})
	if err == nil {
		*dst = all
	}
	return err
}

// patch reads an object over e. A key stays with the place it was given for:
// another source or another host does not get it.
func (e *Embedder) patch(v value) error {
	before, d := *e, newEmbedder()
	e.Key = SealedKey{}
	keyed := false
	err := v.fields(map[string]fieldReader{
		"source":          orDefault(&e.Source, "", func(v value, s *EmbedderSource) error { return choice(v, s, UserProvided, Rest) }),
		"url":             orDefault(&e.URL, "", readURL),
		"apiKey":          {func(v value) error { keyed = true; return e.Key.read(v) }, func() { keyed = true }},
		"dimensions":      orDefault(&e.Dimensions, 0, func(v value, n *int) error { return v.integer(n, 1, maxDimensions) }),
		"binaryQuantized": orDefault(&e.BinaryQuantized, false, value.boolean),
		"documentTemplate": orDefault(&e.DocumentTemplate, "", func(v value, t *string) error {
			err := v.text(t, maxTemplate)
			if err == nil && *t != "" {
				if _, err = parseTemplate(*t); err != nil {
					err = fmt.Errorf("`%s`: %w", v.path, err)
				}
			}
			return err
		}),
		"documentTemplateMaxBytes": orDefault(&e.MaxBytes, d.MaxBytes, func(v value, n *int) error { return v.integer(n, 1, maxTemplateBytes) }),
		"request":                  orDefault(&e.Request, nil, readPlace(TextPlace)),
		"response":                 orDefault(&e.Response, nil, readPlace(EmbeddingPlace)),
		"headers":                  orDefault(&e.Headers, nil, readHeaders),
		"distribution":             orDefault(&e.Distribution, nil, readDistribution),
	})
	if !keyed && e.Source == before.Source && sameHost(e.URL, before.URL) {
		e.Key = before.Key
	}
	return err
}

func sameHost(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && x.Scheme == y.Scheme && x.Host == y.Host
}

func readURL(v value, dst *string) error {
	var s string
	if err := v.text(&s, maxURL); err != nil {
		return err
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		// What is wrong with it may be a secret in it.
		return fmt.Errorf("`%s` must be a URL such as \"https://api.example.com/v1/embeddings\", without user, password or fragment", v.path)
	}
	*dst = s
	return nil
}

// readPlace reads a body that has place in it.
func readPlace(place string) func(value, *json.RawMessage) error {
	return func(v value, dst *json.RawMessage) error {
		found := 0
		eachString(v.raw, func(s string) {
			if s == place {
				found++
			}
		})
		if found != 1 {
			return fmt.Errorf("`%s` must have \"%s\" once as a value in it, but has it %d times", v.path, place, found)
		}
		*dst = bytes.Clone(v.raw)
		return nil
	}
}

// eachString calls f for each string value in v.
func eachString(v []byte, f func(string)) {
	switch v[0] {
	case '"':
		f(unquote(v))
	case '{':
		eachMember(v, func(_, m []byte) bool { eachString(m, f); return true })
	case '[':
		eachElement(v, func(_ int, e []byte) bool { eachString(e, f); return true })
	}
}

func readHeaders(v value, dst *map[string]string) error {
	headers := map[string]string{}
	err := v.members(func(name string, v value) error {
		if len(headers) == maxHeaders {
			return fmt.Errorf("`%s` is one header too many: at most %d are taken", v.path, maxHeaders)
		}
		if !headerName(name) {
			return fmt.Errorf("`%s` is not the name of a header that can be set", v.path)
		}
		var text string
		if err := v.text(&text, maxHeaderText); err != nil {
			return err
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return fmt.Errorf("`%s` must be a text of one line", v.path)
		}
		headers[name] = text
		return nil
	})
	if err == nil {
		*dst = headers
	}
	return err
}

// headerName takes the names of headers that do not belong to the connection.
func headerName(name string) bool {
	for _, c := range []byte(name) {
		if !nameByte(c) && !strings.ContainsRune("!#$%&'*+.^`|~", rune(c)) {
			return false
		}
	}
	own := []string{"host", "content-length", "content-type", "transfer-encoding", "connection", "te", "trailer", "upgrade", "keep-alive", "proxy-authorization", "proxy-connection"}
	return name != "" && len(name) <= 100 && !slices.Contains(own, strings.ToLower(name))
}

func readDistribution(v value, dst **Distribution) error {
	mean, sigma := -1.0, -1.0
	never := func() {}
	err := v.fields(map[string]fieldReader{
		"mean":  {func(v value) error { return v.number(&mean, 0, 1) }, never},
		"sigma": {func(v value) error { return v.number(&sigma, 0, 1) }, never},
	})
	if err == nil && (mean < 0 || sigma <= 0) {
		err = fmt.Errorf("`%s` must have `mean`, from 0 to 1, and `sigma`, above 0 and at most 1", v.path)
	}
	if err == nil {
		*dst = &Distribution{mean, sigma}
	}
	return err
}

// checkEmbedders checks what no single patch shows: that each has what its
// source needs, and nothing that it does not know.
func checkEmbedders(all map[string]Embedder) error {
	if len(all) > maxEmbedders {
		return fmt.Errorf("`embedders` has %d embedders: at most %d are taken", len(all), maxEmbedders)
	}
	for _, name := range sortedKeys(all) {
		e := all[name]
		if err := e.check("embedders." + name); err != nil {
			return err
		}
	}
	return nil
}

func (e *Embedder) check(path string) error {
	missing := func(field, send string) error {
		return fmt.Errorf("`%s.%s` is missing: %s", path, field, send)
	}
	switch e.Source {
	case UserProvided:
		if e.Dimensions == 0 {
			return missing("dimensions", "send how many numbers the documents' vectors have")
		}
		if f := e.restField(); f != "" {
			return fmt.Errorf("`%s.%s` is not for the source \"%s\", whose vectors the documents bring: leave it out, or send null", path, f, e.Source)
		}
	case Rest:
		switch {
		case e.URL == "":
			return missing("url", "send the URL that makes vectors of texts")
		case e.Request == nil:
			return missing("request", `send the body with the place of the text, such as {"model": "m", "input": ["{{text}}", "{{..}}"]}`)
		case e.Response == nil:
			return missing("response", `send the answer's shape with the place of the vector, such as {"data": [{"embedding": "{{embedding}}"}, "{{..}}"]}`)
		}
		if _, err := embed.ParseShape(e.Request, e.Response); err != nil {
			return fmt.Errorf("`%s`: %w", path, err)
		}
	default:
		return missing("source", `send "userProvided" or "rest"`)
	}
	return nil
}

// restField names a field of e that only the source rest has; "" where none is
// set.
func (e *Embedder) restField() string {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"url", e.URL != ""},
		{"apiKey", !e.Key.IsZero()},
		{"documentTemplate", e.DocumentTemplate != ""},
		{"request", e.Request != nil},
		{"response", e.Response != nil},
		{"headers", e.Headers != nil},
	} {
		if f.set {
			return f.name
		}
	}
	return ""
}
