package provider_test

import (
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// lines is a provider of an API that answers a line of JSON for each piece of text.
type lines struct{ text []byte }

func (lines) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	if r.Chat.Get("n").Kind() != rawjson.Absent {
		return provider.HTTPRequest{}, provider.Refuse("`n` is not supported: leave it out.")
	}
	body := rawjson.EditOf(rawjson.Value("{}"))
	body.Set("messages", r.Chat.Get("messages"))
	return provider.HTTPRequest{URL: "https://api.example.com/chat", Body: body.Value(), Framing: abi.FramingJSONLines}, nil
}

func (p *lines) Decode(_ *struct{}, e provider.Event, out *provider.Out) error {
	if e.End {
		out.Finish("stop")
		return nil
	}
	line, ok := rawjson.Parse(e.Data)
	if !ok {
		return provider.Errorf(provider.ErrorUpstream, "a line is not JSON")
	}
	p.text, _ = line.Get("text").AppendText(p.text[:0])
	out.Text(p.text)
	return nil
}

func (*lines) Error(r *provider.Response) provider.ProviderError {
	return provider.Errorf(provider.ErrorUpstream, "%s (region %s)", string(r.Body), r.Header("region"))
}

// A plugin's main.go registers its provider and has an empty main. [provider.NewGuest] is
// what the host calls: package plugintest gives it requests and streams.
func ExampleProvider() {
	guest := provider.NewGuest(&lines{})
	out, err := guest.Decode(abi.AppendDecodeInput(nil, nil, 0, []abi.Event{{Data: []byte(`{"text": "Hello"}`)}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, records, err := abi.DecodeOutput(out)
	fmt.Printf("%q %v\n", records[len(records)-len("Hello"):], err)
	// Output:
	// "Hello" <nil>
}

func ExampleErrorf() {
	err := provider.Errorf(provider.ErrorAuth, "%s: %s", "403", "the key has expired")
	fmt.Println(err.Kind, err.Message)
	// Output:
	// auth 403: the key has expired
}

func ExampleRefuse() {
	fmt.Println(provider.Refuse("`n` is not supported: leave it out."))
	// Output:
	// `n` is not supported: leave it out.
}
