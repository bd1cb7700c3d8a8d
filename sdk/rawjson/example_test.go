package rawjson_test

import (
	"fmt"

	"github.com/parley-search/parley/sdk/rawjson"
)

func ExampleParse() {
	event, ok := rawjson.Parse([]byte(`{"choices": [{"delta": {"content": "Gr\u00fc\u00dfe"}}], "usage": null}`))
	fmt.Println(ok, event.Get("usage").IsNull(), event.Get("model").Kind() == rawjson.Absent)
	for choice := event.Get("choices").Items(); choice.Next(); {
		fmt.Println(choice.Value.Path("delta", "content").String())
	}
	_, ok = rawjson.Parse([]byte(`{"cut off": `))
	fmt.Println(ok)
	// Output:
	// true true true
	// Grüße
	// false
}

func ExampleValue_AppendText() {
	var scratch []byte // of a provider: it is used again in the next call
	for _, text := range []string{`"a"`, `"b\n"`, `7`} {
		v, _ := rawjson.Parse([]byte(text))
		var ok bool
		scratch, ok = v.AppendText(scratch[:0])
		fmt.Printf("%q %t\n", scratch, ok)
	}
	// Output:
	// "a" true
	// "b\n" true
	// "" false
}

func ExampleEdit() {
	request, _ := rawjson.Parse([]byte(`{"model": "m", "max_tokens": 9, "user": "u", "temperature": 0.50}`))
	body := rawjson.EditOf(request)
	body.Rename("max_tokens", "max_completion_tokens")
	body.Set("stream", rawjson.Value("true"))
	body.Set("model", rawjson.Quote("other"))
	body.Drop("user")
	fmt.Println(string(body.Value()))
	// Output:
	// {"model":"other","temperature":0.50,"max_completion_tokens":9,"stream":true}
}

func ExampleCheck() {
	m := rawjson.Check([]byte(`{"type": "text", "text": "Hello"}`))
	for m.Next() {
		if m.KeyIs("text") {
			fmt.Println(m.Value.String())
		}
	}
	fmt.Println(m.OK())
	// Output:
	// Hello
	// true
}

// Objects and lists in one expression: what has no value is left out.
func ExampleListOf() {
	text := rawjson.Edit{}.With("text", rawjson.Quote("Hi")).With("cache", nil)
	message := rawjson.Edit{}.With("role", rawjson.Quote("user")).With("content", rawjson.ListOf(text.Value(), nil, rawjson.Value("1")))
	fmt.Println(string(message.Value()), string(rawjson.ListOf()))
	// Output: {"role":"user","content":[{"text":"Hi"},1]} []
}
