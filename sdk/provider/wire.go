package provider

import (
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/rawjson"
)

// parseRequest reads an abi.EncodeRequest. Its bytes are copied where they
// outlive the call.
func parseRequest(in []byte) (*Request, error) {
	v, ok := rawjson.Parse(in)
	var r Request
	// In one walk: a look-up of its own for each member would cross the chat,
	// which may be long, again and again.
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "chat":
			r.Chat = m.Value
		case "settings":
			r.Settings = parseSettings(m.Value)
		case "round":
			n, _ := m.Value.Int()
			r.Round = int(n)
		case "attempt":
			n, _ := m.Value.Int()
			r.Attempt = int(n)
		case "carry":
			for it := m.Value.Items(); it.Next(); {
				b, err := base64.StdEncoding.DecodeString(it.Value.String())
				if err != nil {
					return nil, &DeclaredError{abi.CodeMalformed, "a carry is not base64"}
				}
				r.Carry = append(r.Carry, b)
			}
		}
	}
	if !ok || r.Chat.Kind() != rawjson.Object {
		return nil, &DeclaredError{abi.CodeMalformed, "encode input is not a JSON object with a chat in it"}
	}
	return &r, nil
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

// appendHTTPRequest writes an abi.EncodeResponse, headers in order of name.
func appendHTTPRequest(b []byte, h HTTPRequest) []byte {
	if h.Reply != nil {
		return append(rawjson.AppendString(append(b, `{"reply":`...), h.Reply), '}')
	}
	if h.Method == "" {
		h.Method = "POST"
	}
	b = rawjson.AppendString(append(b, `{"method":`...), h.Method)
	b = rawjson.AppendString(append(b, `,"url":`...), h.URL)
	b = append(b, `,"headers":{`...)
	b = slices.Grow(b, len(h.Body)+512)
	var few [8]string
	names := few[:0]
	for name := range h.Headers {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(rawjson.AppendString(b, name), ':')
		b = rawjson.AppendString(b, h.Headers[name])
	}
	b = append(b, '}')
	if len(h.Body) > 0 {
		b = append(append(b, `,"body":`...), h.Body...)
	}
	if h.Framing != "" {
		b = rawjson.AppendString(append(b, `,"framing":`...), h.Framing)
	}
	return append(b, '}')
}

// appendProviderError writes an abi.ProviderError.
func appendProviderError(b []byte, e ProviderError) []byte {
	b = rawjson.AppendString(append(b, `{"kind":`...), e.Kind)
	b = rawjson.AppendString(append(b, `,"message":`...), e.Message)
	if e.ProviderCode != "" {
		b = rawjson.AppendString(append(b, `,"provider_code":`...), e.ProviderCode)
	}
	if e.RetryAfterMS > 0 {
		b = strconv.AppendInt(append(b, `,"retry_after_ms":`...), e.RetryAfterMS, 10)
	}
	return append(b, '}')
}
