package main

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/plugintest"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// plain is the provider without patterns: each event is read in full.
type plain struct{ anthropic }

func (p *plain) Decode(s *state, e provider.Event, out *provider.Out) error {
	p.forget(s, out)
	p.kept = pattern.Kept{}
	return p.anthropic.Decode(s, e, out)
}

// FuzzDecode holds any body to what no stream may do, the patterns to the
// reading in full, and the next round's request to JSON.
func FuzzDecode(f *testing.F) {
	cases, err := response.ReadCases("testdata")
	if err != nil {
		f.Fatal(err)
	}
	if recorded, err := plugintest.ReadCorpus("anthropic"); err == nil {
		cases = append(cases, recorded...)
	}
	for _, c := range cases {
		if c.Kind == "stream" && len(c.Body) < 8<<10 {
			f.Add(c.Body)
		}
	}
	fast, full := plugintest.New(&anthropic{}), plugintest.New(&plain{})
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := fast.Run(body)
		if err != nil {
			t.Fatal(err)
		}
		want, err := full.Run(body)
		if err != nil {
			t.Fatal(err)
		}
		// Compared as JSON, with what JSON leaves out beside it.
		if a, b := asJSON(t, got.Aggregate), asJSON(t, want.Aggregate); a != b || !slices.Equal(got.Carry, want.Carry) {
			t.Errorf("with patterns %s, carry %q\nread in full %s, carry %q", a, got.Carry, b, want.Carry)
		}
		if len(got.Broken) > 0 {
			t.Error(got.Broken)
		}
		if len(got.ToolCalls) == 0 || got.Error != nil {
			return
		}
		r, err := fast.Encode(abi.EncodeRequest{
			Chat: chatAfter(got, "claude-sonnet-4-6"), Round: 1, Carry: []string{base64.StdEncoding.EncodeToString(got.Carry)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if problems := validate(r.Body); problems != nil {
			t.Errorf("the next round %s is refused: %v", r.Body, problems)
		}
	})
}

func asJSON(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// FuzzEncode holds any chat to a refusal or a body that is JSON to the letter.
func FuzzEncode(f *testing.F) {
	for _, chat := range []string{
		`{"model":"claude-sonnet-4-6","messages":[{"role":"user","content":"a"}]}`,
		`{"model":"claude-opus-4-1","messages":[{"role":"system","content":[{"type":"text","text":"s"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}],"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"tool_choice":"required","reasoning_effort":"high","stop":["a"]}`,
	} {
		f.Add([]byte(chat), []byte(`{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"c"}`))
	}
	d := plugintest.New(&anthropic{})
	f.Fuzz(func(t *testing.T, chat, carry []byte) {
		// The host hands over JSON to the letter.
		if v, ok := rawjson.Parse(chat); !ok || v.Kind() != rawjson.Object || !json.Valid(chat) || !v.Clean() {
			t.Skip()
		}
		r, err := d.Encode(abi.EncodeRequest{Chat: chat, Carry: []string{base64.StdEncoding.EncodeToString(carry)}})
		if err != nil {
			return
		}
		if v, ok := rawjson.Parse(r.Body); !ok || !v.Clean() || !json.Valid(r.Body) {
			t.Errorf("the body is not JSON: %s", r.Body)
		}
	})
}

// FuzzError holds any error body to the kinds that the host knows.
func FuzzError(f *testing.F) {
	cases, err := response.ReadCases("testdata")
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		if c.Kind == "error" {
			f.Add(c.Status, c.Headers["retry-after"], c.Body)
		}
	}
	kinds := []string{
		abi.ErrorAuth, abi.ErrorPermission, abi.ErrorNotFound, abi.ErrorInvalidRequest, abi.ErrorContextLength, abi.ErrorRateLimit,
		abi.ErrorQuota, abi.ErrorContentFilter, abi.ErrorOverloaded, abi.ErrorUpstream, abi.ErrorTimeout,
	}
	d := plugintest.New(&anthropic{})
	f.Fuzz(func(t *testing.T, status int, retry string, body []byte) {
		got, err := d.Fail(response.Case{Status: status, Headers: map[string]string{"retry-after": retry}, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(kinds, got.Kind) || got.RetryAfterMS != nil && *got.RetryAfterMS <= 0 {
			t.Errorf("Fail = %+v", got)
		}
	})
}
