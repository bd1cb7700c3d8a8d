package openai

import (
	"errors"
	"testing"

	"github.com/parley-search/parley/sdk/plugintest"
	"github.com/parley-search/parley/sdk/provider"
)

// plain is a provider of nothing but what this package has.
type plain struct{ Decoder }

func (*plain) Encode(*provider.Request) (provider.HTTPRequest, error) {
	return provider.HTTPRequest{}, errors.New("not needed here")
}

func (*plain) Error(r *provider.Response) provider.ProviderError { return Error(r) }

func (p *plain) Pattern(s *State, out *provider.Out) { p.TellPattern(s, out) }

func TestCases(t *testing.T) { plugintest.RunCases(t, plugintest.New(&plain{}), "testdata") }
