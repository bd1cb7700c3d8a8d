package gemini

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
	"github.com/parley-search/parley/sdk/rawjson"
)

// FuzzReduce holds any schema to the rules.
func FuzzReduce(f *testing.F) {
	f.Add([]byte(`{"$defs":{"a":{"type":["string","null"]}},"properties":{"x":{"$ref":"#/$defs/a"},"y":{"anyOf":[{"const":1},{"items":{}}]}},"required":["x"]}`))
	f.Add([]byte(`{"allOf":[{"$ref":"#"}],"oneOf":[true,{"enum":["a",null]}]}`))
	f.Fuzz(func(t *testing.T, schema []byte) {
		if v, ok := rawjson.Parse(schema); ok && json.Valid(schema) {
			holds(t, string(schema), reduceSchema(v))
		}
	})
}

// FuzzEncode holds any chat to being refused or made into a body that keeps
// the rules.
func FuzzEncode(f *testing.F) {
	f.Add([]byte(`{"model":"gemini-3","messages":[{"role":"system","content":"s"},{"role":"assistant","content":"a","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"[1]"}],"stop":"x"}`), []byte(`,{"at":0,"own":0,"id":"c","part":{"functionCall":{"name":"f"},"thoughtSignature":"eA=="}}`))
	d := plugintest.New(&Provider{})
	f.Fuzz(func(t *testing.T, chat, carry []byte) {
		if !json.Valid(chat) {
			return
		}
		r, err := d.Encode(abi.EncodeRequest{Chat: chat, Carry: []string{base64.StdEncoding.EncodeToString(carry)}})
		if err == nil && !json.Valid(r.Body) {
			t.Errorf("body %s", r.Body)
		}
	})
}
