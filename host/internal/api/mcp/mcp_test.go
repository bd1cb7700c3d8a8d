package mcp

import (
	"errors"
	"strings"
	"testing"
)

// TestReadMessage takes one message of JSON-RPC, and answers others with the code of what is wrong.
func TestReadMessage(t *testing.T) {
	for _, tt := range []struct {
		body string
		code int    // 0: it is taken
		says string // of the error
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, 0, ""},
		{`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"search","arguments":{"q":"x"}}}`, 0, ""},
		{`{"jsonrpc":"2.0","method":"notifications/initialized","params":null}`, 0, ""},
		{`{"jsonrpc":"2.0","id":1,`, codeParse, ""},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, codeRequest, "one by one"},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, codeRequest, "`jsonrpc`"},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, codeRequest, "`id`"},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, codeRequest, "`id`"},
		{`{"jsonrpc":"2.0","method":"ping"}`, codeRequest, "`id` is missing"},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, codeRequest, "`method` is missing"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}`, codeRequest, "`params`"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":3}}`, codeParams, "name"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":{}}}}`, codeParams, "progressToken"},
	} {
		m, err := ReadMessage([]byte(tt.body))
		if tt.code == 0 {
			if err != nil {
				t.Errorf("%s: %v", tt.body, err)
			}
			continue
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Code != tt.code || !strings.Contains(e.Message, tt.says) {
			t.Errorf("%s: %+v, %v, want code %d and %q", tt.body, m, err, tt.code, tt.says)
		}
	}
}

// TestMessageCosts counts the indexes that a call looks into.
func TestMessageCosts(t *testing.T) {
	for call, want := range map[string]int{
		`"tools/call","params":{"name":"search","arguments":{"query":"x"}}`:               5,
		`"tools/call","params":{"name":"search","arguments":{"query":"x","index":"one"}}`: 1,
		`"tools/call","params":{"name":"fetch","arguments":{}}`:                           1,
		`"tools/call","params":{"name":"ask","arguments":{}}`:                             0,
		`"tools/list"`: 0,
	} {
		m, err := ReadMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":` + call + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.searches(func() int { return 5 }); got != want {
			t.Errorf("%s looks into %d indexes, want %d", call, got, want)
		}
	}
}

// TestCheckMethods refuses a method that is not there by the status that clients of the revision expect.
func TestCheckMethods(t *testing.T) {
	m, err := ReadMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	for version, status := range map[string]int{"2025-06-18": 200, stateless: 404, "1999-01-01": 400} {
		e, ok := errors.AsType[*Error](m.check(version))
		if !ok || e.Status != status || !strings.Contains(string(e.Body()), `"id":1`) {
			t.Errorf("in revision %s: %+v, want status %d and the id", version, e, status)
		}
	}
	if m, _ = ReadMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)); m.check("2025-06-18") != nil {
		t.Error("tools/list is refused")
	}
}
