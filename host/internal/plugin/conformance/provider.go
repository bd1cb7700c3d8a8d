package conformance

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/answer"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// providerChecks are those of a provider's calls.
func providerChecks() []check {
	return append([]check{
		{
			name:   "input region",
			about:  "gives an input region of any size up to the limit, within its memory, that stays good when a smaller one is asked for",
			remedy: "Let `parley_input` keep one region that only grows: return the one that there is while it is large enough.",
			run:    checkRegion,
		},
		{
			name:   "encode",
			about:  "answers requests with one to send, or a reply, or a declared error; sends to granted origins, and leaves secrets to the host: `${apiKey}` in header values alone, and none of the headers that `auth` sets",
			remedy: "Hold the answer to abi/README.md, section Encode, and name in the manifest's `grants` where requests go and which secrets they carry.",
			run:    checkEncode,
		},
		{
			name:   "models",
			about:  "describes the list of models, with a template by which the host reads it, where its manifest `does` models",
			remedy: "Answer op `models` with a request and `answer`: abi/README.md, section Lists.",
			run:    func(s *subject) (string, error) { return s.checkOp(abi.OpModels) },
		},
		{
			name:   "embed",
			about:  "describes requests for vectors, of documents and of queries, with a template by which the host reads them, where its manifest `does` embed",
			remedy: "Answer op `embed` with a request and `answer`: abi/README.md, section Lists.",
			run:    func(s *subject) (string, error) { return s.checkOp(abi.OpEmbed) },
		},
		{
			name:   "decode",
			about:  "brings every stream, of whatever form, to one finish or one error, by the rules for a response",
			remedy: "Hold the records to abi/README.md, section Decode, above all its rules for a response as a whole.",
			run:    checkDecode,
		},
		{
			name:   "error",
			about:  "sorts every response that is not a success, whatever its body",
			remedy: "Answer with a JSON object of `kind` and `message`: abi/README.md, section Error.",
			run:    checkError,
		},
		{
			name:   "empty response",
			about:  "takes a response that ended before it began for an error",
			remedy: "With flag last and no finish seen before, write an error record: kind `upstream`, \"the response ended early\".",
			run:    checkEmptyResponse,
		},
		{
			name:   "rounds",
			about:  "gives the provider back what it said in the round before, in an answer that goes on from that, and at a later question, to the byte: reasoning, signatures, and members that no record knows, of the message and of its calls",
			remedy: "Send on the members of an assistant's message and of its calls, and carry what they cannot hold: abi/README.md, section What reaches a plugin. What an API wants back is said by `back` of a case.",
			run:    checkRounds,
		},
	}, append(purityChecks(), toughnessChecks()...)...)
}

// checkRegion asks for regions, large and small, and sees that the guest still
// reads from the one that it gave first.
func checkRegion(s *subject) (string, error) {
	g, other, err := s.pair()
	if err != nil {
		return "", err
	}
	most := uint32(g.p.MaxInput())
	sizes := []uint32{1, 8 << 10, 64 << 10, most, most, 8 << 10, 1}
	for _, n := range sizes {
		if n > most {
			continue
		}
		at, err := g.p.Region(n)
		if err != nil {
			return "", err
		}
		if at == 0 {
			return "", fmt.Errorf("%s(%d) gave no region", abi.FuncInput, n)
		}
	}
	// The host goes on with the region of most bytes.
	if _, err := same(abi.FuncEncode, question(s.manifest), other, g); err != nil {
		return "", fmt.Errorf("after regions of %d bytes and then of fewer: %w", most, err)
	}
	return "up to " + size(uint64(most)), nil
}

// checkEncode asks for requests.
func checkEncode(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	detail, declared := "", 0
	for i, in := range encodeInputs(s.manifest) {
		r, err := g.call(abi.FuncEncode, in)
		if err != nil {
			return "", err
		}
		if r.declared != nil {
			declared++
			if i == 0 {
				return "", fmt.Errorf("%s, with every setting of the manifest set, is answered with %s", in.name, r)
			}
			continue
		}
		var e abi.EncodeResponse
		if err := json.Unmarshal(r.answer, &e); err != nil {
			return "", err
		}
		where, err := s.granted(&e)
		if err != nil {
			return "", fmt.Errorf("%s of %s: %w", abi.FuncEncode, in.name, err)
		}
		if i == 0 {
			detail = where
		}
	}
	return fmt.Sprintf("%s; %d requests, %d of them refused", detail, len(encodeInputs(s.manifest)), declared), nil
}

// checkOp asks for the request of an op that the host reads by itself, with a
// baseUrl and without one: a plugin may refuse one of both.
func (s *subject) checkOp(op string) (string, error) {
	if !manifest.Does(s.manifest, op) {
		return skip("its manifest does no " + op)
	}
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	detail, refused := "", ""
	for _, in := range opInputs(s.manifest, op) {
		r, err := g.call(abi.FuncEncode, in)
		if err != nil {
			return "", err
		}
		if r.declared != nil {
			refused = r.String()
			continue
		}
		var e abi.EncodeResponse
		if err := json.Unmarshal(r.answer, &e); err != nil {
			return "", err
		}
		if err := answer.Check(op, e.Answer); err != nil {
			return "", fmt.Errorf("%s of %s: its answer, the template, %w", abi.FuncEncode, in.name, err)
		}
		where, err := s.granted(&e)
		if err != nil {
			return "", fmt.Errorf("%s of %s: %w", abi.FuncEncode, in.name, err)
		}
		detail = cmp.Or(detail, where)
	}
	if detail == "" {
		return "", fmt.Errorf("op %s, with every setting of the manifest set, is answered with %s", op, refused)
	}
	return detail, nil
}

// granted says where a request goes, or what it asks that the manifest does
// not.
func (s *subject) granted(e *abi.EncodeResponse) (where string, err error) {
	if e.Reply != nil {
		return "a reply of its own", nil
	}
	grants := s.manifest.Grants
	values := map[string]string{}
	for name, v := range ExampleOptions(s.manifest) {
		var text string
		if json.Unmarshal(v, &text) == nil {
			values[name] = text
		}
	}
	grants.HTTP = manifest.Origins(s.manifest, values)
	r := outbound.Request{Encoded: e, Grants: grants, BaseURL: baseURL, Secrets: map[string]string{"apiKey": "key"}}
	if !manifest.UsesPlaceholders(s.manifest) {
		r.Credential = &outbound.Credential{}
		if e.Auth != "" && e.Auth != abi.AuthNone && !slices.ContainsFunc(s.manifest.Auth, func(a abi.Auth) bool { return a.Name == e.Auth }) {
			return "", fmt.Errorf("its auth is %s, which the manifest does not have", quote(e.Auth))
		}
	}
	c, err := r.Check()
	if err != nil {
		return "", err
	}
	if manifest.UsesPlaceholders(s.manifest) && strings.Contains(string(e.Body), abi.PlaceholderAPIKey) {
		return "", fmt.Errorf("it writes %s into the body: the host puts the key into header values alone", abi.PlaceholderAPIKey)
	}
	for name := range e.Headers {
		if slices.ContainsFunc(s.manifest.Auth, func(a abi.Auth) bool { return a.Scheme == abi.AuthHeader && strings.EqualFold(a.Header, name) }) {
			return "", fmt.Errorf("it sets the header %q, which its auth in the manifest has the host set", name)
		}
	}
	return "to " + c.URL.Scheme + "://" + strings.ToLower(c.URL.Host), nil
}

// checkError has the plugin sort responses that are failures into kinds, at least one of them.
func checkError(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	kinds := map[string]bool{}
	for _, in := range errorInputs() {
		r, err := g.call(abi.FuncError, in)
		if err != nil {
			return "", err
		}
		var e abi.ProviderError
		if r.declared == nil {
			if err := json.Unmarshal(r.answer, &e); err != nil {
				return "", err
			}
			kinds[e.Kind] = true
		}
	}
	if len(kinds) == 0 {
		return "", errors.New("every response is answered with a declared error")
	}
	return fmt.Sprintf("%d responses, %d kinds", len(errorInputs()), len(kinds)), nil
}
