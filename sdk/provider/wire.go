package provider

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/rawjson"
)

// parseRequest reads an abi.EncodeRequest into g.request.
func (g *guest[S]) parseRequest(in []byte) error {
	r := &g.request
	*r = Request{}
	var settings, carry, textCarry rawjson.Value
	var stepCarry string
	m := rawjson.Check(in)
	for m.Next() {
		switch string(m.Key) {
		case "chat":
			r.Chat = m.Value
		case "settings":
			settings = m.Value
		case "round":
			n, _ := m.Value.Int()
			r.Round = int(n)
		case "attempt":
			n, _ := m.Value.Int()
			r.Attempt = int(n)
		case "step":
			n, _ := m.Value.Int()
			r.Step = int(n)
		case "stepCarry":
			stepCarry = m.Value.String()
		case "cancelled":
			r.Cancelled = string(m.Value) == "true"
		case "requestId":
			r.RequestID = m.Value.String()
		case "carry":
			carry = m.Value
		case "textCarry":
			textCarry = m.Value
		case "options":
			r.Options = m.Value
		case "op":
			r.Op = m.Value.String()
		case "next":
			r.Next = m.Value.String()
		case "texts":
			r.Texts = m.Value
		case "model":
			r.Model = m.Value.String()
		case "dimensions":
			n, _ := m.Value.Int()
			r.Dimensions = int(n)
		case "inputType":
			r.InputType = m.Value.String()
		}
	}
	if r.Op == "" {
		r.Op = abi.OpChat
	}
	if !m.OK() || r.Op == abi.OpChat && r.Chat.Kind() != rawjson.Object {
		return &DeclaredError{abi.CodeMalformed, "encode input is not a JSON object with a chat in it"}
	}
	r.Settings = g.settings.of(settings)
	var err error
	if r.Carry, err = parseCarry(carry); err == nil {
		r.TextCarry, err = parseCarry(textCarry)
	}
	if err == nil && stepCarry != "" {
		r.StepCarry, err = parseBase64(stepCarry)
	}
	return err
}

func parseBase64(s string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, &DeclaredError{abi.CodeMalformed, "a carry is not base64"}
	}
	return b, nil
}

func parseCarry(v rawjson.Value) (carry [][]byte, err error) {
	for it := v.Items(); it.Next(); {
		b, err := parseBase64(it.Value.String())
		if err != nil {
			return nil, err
		}
		carry = append(carry, b)
	}
	return carry, nil
}

// lastSettings are those of the last request: most have the same.
type lastSettings struct {
	json     []byte
	settings Settings
}

// of returns the settings that v says, which outlive the call.
func (l *lastSettings) of(v rawjson.Value) Settings {
	if !bytes.Equal(l.json, v) {
		l.json, l.settings = append(l.json[:0], v...), parseSettings(v)
	}
	return l.settings
}

func parseSettings(v rawjson.Value) (s Settings) {
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "orgId":
			s.OrgID = m.Value.String()
		case "projectId":
			s.ProjectID = m.Value.String()
		case "apiVersion":
			s.APIVersion = m.Value.String()
		case "deploymentId":
			s.DeploymentID = m.Value.String()
		case "baseUrl":
			s.BaseURL = m.Value.String()
		case "apiKey":
			s.APIKey = m.Value.String()
		}
	}
	return s
}

// A lastHead is all of the last request but its body, as it was written: most are
// sent to the same place.
type lastHead struct {
	method, url, framing string
	headers              []Header
	json                 []byte
}

// appendHTTPRequest writes an abi.EncodeResponse.
func (l *lastHead) appendHTTPRequest(b []byte, h *HTTPRequest) []byte {
	if h.Reply != nil {
		return append(rawjson.AppendString(append(b, `{"reply":`...), h.Reply), '}')
	}
	if l.json == nil || !l.is(h) {
		l.write(h)
	}
	b = append(b, l.json...)
	if len(h.Body) > 0 {
		b = slices.Grow(b, len(h.Body)+16)
		b = append(append(b, `,"body":`...), h.Body...)
	}
	if h.Auth != "" {
		b = appendText(b, `,"auth":`, h.Auth)
	}
	if h.FirstByteSeconds > 0 {
		b = strconv.AppendInt(append(b, `,"firstByteSeconds":`...), int64(h.FirstByteSeconds), 10)
	}
	if h.Answer != "" {
		b = append(append(b, `,"answer":`...), h.Answer...)
	}
	for i, name := range h.Head {
		before := ","
		if i == 0 {
			before = `,"head":[`
		}
		b = appendText(b, before, name)
	}
	if len(h.Head) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

// is reports whether h goes where the last request went. It is not inlined: in a
// guest a loop costs by the function that it stands in.
//
//go:noinline
func (l *lastHead) is(h *HTTPRequest) bool {
	if len(h.Headers) != len(l.headers) || h.URL != l.url || h.Method != l.method || h.Framing != l.framing {
		return false
	}
	for i := range h.Headers {
		if h.Headers[i] != l.headers[i] {
			return false
		}
	}
	return true
}

func (l *lastHead) write(h *HTTPRequest) {
	l.method, l.url, l.framing = h.Method, h.URL, h.Framing
	l.headers = append(l.headers[:0], h.Headers...)
	b := appendText(l.json[:0], `{"method":`, cmp.Or(h.Method, "POST"))
	b = appendText(b, `,"url":`, h.URL)
	if h.Framing != "" {
		b = appendText(b, `,"framing":`, h.Framing)
	}
	b = append(b, `,"headers":{`...)
	for i := range h.Headers {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, "", h.Headers[i].Name)
		b = appendText(b, ":", h.Headers[i].Value)
	}
	l.json = append(b, '}')
}

// appendText writes what comes before a string, and the string.
func appendText(b []byte, before, text string) []byte {
	return rawjson.AppendString(append(b, before...), text)
}

// appendProviderError writes an abi.ProviderError.
func appendProviderError(b []byte, e ProviderError) []byte {
	b = appendText(b, `{"kind":`, e.Kind)
	b = appendText(b, `,"message":`, e.Message)
	if e.Advice != "" {
		b = appendText(b, `,"advice":`, e.Advice)
	}
	if e.ProviderCode != "" {
		b = appendText(b, `,"provider_code":`, e.ProviderCode)
	}
	if e.RetryAfterMS > 0 {
		b = strconv.AppendInt(append(b, `,"retry_after_ms":`...), e.RetryAfterMS, 10)
	}
	return append(b, '}')
}
