// Command versioned is a provider for tests of live swap: each word that it
// passes on bears the mark of its version, and so do the state of a response
// and what is carried from one round to the next. A stream that was decoded by
// two versions shows.
package main

import (
	"strings"

	"github.com/parley-search/parley/sdk/provider"
)

// mark is what a test replaces, in the built module, by another of its length.
const mark = "version-A"

// mixed is what is written where another version began.
const mixed = "two versions in one stream"

type versioned struct{}

// A state keeps the mark of the version that began the response.
type state struct{ Mark [len(mark)]byte }

func (versioned) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	path := "/search"
	for _, carried := range r.Carry {
		if string(carried) != mark {
			return provider.HTTPRequest{}, provider.Refuse(mixed)
		}
		path = "/answer"
	}
	return provider.HTTPRequest{URL: r.Settings.BaseURL + path, Body: []byte(`{"mark":"` + mark + `"}`)}, nil
}

func (versioned) Decode(s *state, e provider.Event, out *provider.Out) error {
	if e.End {
		return nil
	}
	if s.Mark == (state{}).Mark {
		copy(s.Mark[:], mark)
		out.Carry([]byte(mark))
	}
	word := string(e.Data)
	switch {
	case string(s.Mark[:]) != mark:
		out.Text([]byte(mixed))
	case word == "search":
		out.ToolStart(0, "call_1", "searchInIndex")
		out.ToolArguments(0, []byte(`{"indexUid":"notes","q":"a","filter":""}`))
		out.Finish("tool_calls")
	case word == "end":
		out.Finish("stop")
	default:
		out.Text([]byte(strings.TrimSpace(word) + " " + mark + ";"))
	}
	return nil
}

func (versioned) Error(*provider.Response) provider.ProviderError {
	return provider.ProviderError{Kind: "upstream"}
}

func init() { provider.Register(versioned{}) }

func main() {}
