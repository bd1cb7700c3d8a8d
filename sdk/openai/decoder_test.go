package openai

import (
	"testing"

	"github.com/parley-search/parley/sdk/plugintest"
	"github.com/parley-search/parley/sdk/provider"
)

// plain is a provider of nothing but what this package has.
type plain struct {
	Encoder
	Decoder
}

func (p *plain) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	return p.Request(r.Settings.BaseURL, r.Settings, p.Body(r)), nil
}

func (*plain) Error(r *provider.Response) provider.ProviderError { return Error(r) }

func (p *plain) Pattern(s *State, out *provider.Out) { p.TellPattern(s, out) }

func TestCases(t *testing.T) { plugintest.RunCases(t, plugintest.New(&plain{}), "testdata") }
