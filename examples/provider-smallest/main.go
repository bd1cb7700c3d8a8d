// Command smallest is the smallest provider there can be: it repeats the last
// message. It needs no network, so its reply goes straight to Decode.
package main

import "github.com/parley-search/parley/sdk/provider"

type smallest struct{}

func (smallest) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	last := ""
	for m := r.Chat.Get("messages").Items(); m.Next(); {
		last = m.Value.Get("content").String()
	}
	return provider.HTTPRequest{Reply: []byte("You said: " + last)}, nil
}

func (smallest) Decode(_ *struct{}, e provider.Event, out *provider.Out) error {
	if e.End {
		out.Finish("stop")
	}
	out.Text(e.Data)
	return nil
}

func (smallest) Error(*provider.Response) provider.ProviderError {
	return provider.ProviderError{Kind: "upstream"}
}

func init() { provider.Register(smallest{}) }

func main() {}
