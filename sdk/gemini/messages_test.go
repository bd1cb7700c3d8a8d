package gemini

import (
	"encoding/json"
	"testing"
)

func TestEncodeMessages(t *testing.T) {
	const ask = `{"role":"user","parts":[{"text":"q"}]}`
	tests := []struct{ name, model, messages, contents, system string }{
		{"instructions anywhere", "", `{"role":"system","content":"a"},{"role":"user","content":"q"},{"role":"developer","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},{"role":"system","content":""}`, ask, `{"parts":[{"text":"a"},{"text":"bc"}]}`},
		{"instructions alone", "", `{"role":"system","content":"a"}`, `{"role":"user","parts":[{"text":"a"}]}`, ``},
		{"nothing said", "", `{"role":"user","content":""},{"role":"assistant","content":null}`, `{"role":"user","parts":[{"text":"."}]}`, ``},
		{"the model begins", "", `{"role":"assistant","content":"a"},{"role":"user","content":"q"}`, `{"role":"user","parts":[{"text":"."}]},{"role":"model","parts":[{"text":"a"}]},` + ask, ``},
		{
			"in turns", "", `{"role":"user","content":"q"},{"role":"user","content":""},{"role":"user","content":[{"type":"text","text":"r"},{"type":"text","text":""}]},{"role":"assistant","content":"a"},{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]},{"role":"assistant","content":null,"refusal":"never"}`,
			`{"role":"user","parts":[{"text":"q"},{"text":"r"}]},{"role":"model","parts":[{"text":"a"},{"text":"no"},{"text":"never"}]}`, ``,
		},
		{
			"images", "", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},{"type":"image_url","image_url":{"url":"https://x.example/1.png"}}]}`,
			`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}},{"fileData":{"mimeType":"image/png","fileUri":"https://x.example/1.png"}}]}`, ``,
		},
		{
			"calls, answered in another order", "gemini-2.5-pro",
			`{"role":"user","content":"q"},{"role":"assistant","content":"Let me.","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": 1}"}},{"id":"call_parley_1_1","type":"function","function":{"name":"g","arguments":""}}]},{"role":"tool","tool_call_id":"call_parley_1_1","content":"text"},{"role":"system","content":"s"},{"role":"tool","tool_call_id":"a","content":"{\"y\":2}"},{"role":"user","content":"and?"}`,
			ask + `,{"role":"model","parts":[{"text":"Let me."},{"functionCall":{"name":"f","id":"a","args":{"x":1}}},{"functionCall":{"name":"g","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","id":"a","response":{"y":2}}},{"functionResponse":{"name":"g","response":{"output":"text"}}},{"text":"and?"}]}`, `{"parts":[{"text":"s"}]}`,
		},
		{
			"odd arguments and answers", "",
			`{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"cut"}},{"id":"b","function":{"name":"f","arguments":"[1]"}},{"id":"c","function":{"name":"f","arguments":{"z":1}}},{"id":"d","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"a","content":""},{"role":"tool","tool_call_id":"b","content":"[1, 2]"},{"role":"tool","tool_call_id":"c","content":"12345678901234567890"},{"role":"tool","tool_call_id":"d","content":[{"type":"text","text":"{\"a\""},{"type":"text","text":":1}"}]}`,
			ask + `,{"role":"model","parts":[{"functionCall":{"name":"f","id":"a","args":{}}},{"functionCall":{"name":"f","id":"b","args":{}}},{"functionCall":{"name":"f","id":"c","args":{"z":1}}},{"functionCall":{"name":"f","id":"d","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","id":"a","response":{"output":""}}},{"functionResponse":{"name":"f","id":"b","response":{"output":[1,2]}}},{"functionResponse":{"name":"f","id":"c","response":{"output":"12345678901234567890"}}},{"functionResponse":{"name":"f","id":"d","response":{"a":1}}}]}`, ``,
		},
		{
			"signatures that the client kept, and where it did not", "gemini-3.1-pro",
			`{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}},{"id":"b","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}},{"id":"d","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"3"},{"role":"tool","tool_call_id":"d","content":"4"}`,
			ask + `,{"role":"model","parts":[{"functionCall":{"name":"f","id":"a","args":{}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"f","id":"b","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","id":"a","response":{"output":"1"}}},{"functionResponse":{"name":"f","id":"b","response":{"output":"2"}}}]},` +
				`{"role":"model","parts":[{"functionCall":{"name":"f","id":"c","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"f","id":"d","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","id":"c","response":{"output":"3"}}},{"functionResponse":{"name":"f","id":"d","response":{"output":"4"}}}]}`, ``,
		},
		{"same id twice", "", `{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"a","function":{"name":"g","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"a","content":"2"}`, ask + `,{"role":"model","parts":[{"functionCall":{"name":"f","id":"a","args":{}}},{"functionCall":{"name":"g","id":"a","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","id":"a","response":{"output":"1"}}},{"functionResponse":{"name":"g","id":"a","response":{"output":"2"}}}]}`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.model == "" {
				tt.model = "gemini-2.5-flash"
			}
			var got struct{ Contents, SystemInstruction json.RawMessage }
			if err := json.Unmarshal(encodeChat(t, `{"model":"`+tt.model+`","messages":[`+tt.messages+`]}`).Body, &got); err != nil {
				t.Fatal(err)
			}
			same(t, "contents", got.Contents, "["+tt.contents+"]")
			if tt.system == "" && got.SystemInstruction != nil {
				t.Errorf("systemInstruction = %s, want none", got.SystemInstruction)
			} else if tt.system != "" {
				same(t, "systemInstruction", got.SystemInstruction, tt.system)
			}
		})
	}
}
