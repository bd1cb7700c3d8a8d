package turns_test

import (
	"fmt"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
	"github.com/parley-search/parley/sdk/turns"
)

// A conversation becomes turns, and the result of a call a part of the user's.
func ExampleWalker() {
	r := &provider.Request{Chat: rawjson.Value(`{"messages":[
		{"role":"system","content":"Be brief."},
		{"role":"user","content":"Weather?"},
		{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"Rain."}]}`)}
	var w turns.Walker
	for w.Of(r); w.Next(); {
		switch p := w.Part; p.Kind {
		case turns.System, turns.Text:
			fmt.Println(p.User, p.Text)
		case turns.Call:
			fmt.Println(p.User, p.Name, string(p.Value))
		case turns.Result:
			fmt.Println(p.User, p.Name, p.Text)
		}
	}
	fmt.Println(w.Err())
	// Output:
	// false Be brief.
	// true Weather?
	// false weather {"city":"Oslo"}
	// true weather Rain.
	// <nil>
}
