package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
)

// checkRounds asks for the requests that follow responses: the plugin's
// cases that say what the provider wants back, or else those of OpenAI's form. Of the
// latter a plugin need not understand all: it must send on what it was given.
func checkRounds(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	framing, err := s.framing(g)
	if err != nil {
		return "", err
	}
	rounds, own := 0, false
	try := func(c response.Case, st stream) error {
		requests, lost, err := s.lost(g, c, st, own)
		if rounds += requests; err == nil && lost != "" {
			err = fmt.Errorf("%s: %s", st.name, lost)
		}
		return err
	}
	for _, c := range s.options.Cases {
		if c.Kind != response.KindStream || len(c.Back) == 0 {
			continue
		}
		own = true
		st, err := streamOfCase(c, framing)
		if err != nil {
			return "", fmt.Errorf("case %s: %w", c.Name, err)
		}
		if err := try(c, st); err != nil {
			return "", err
		}
	}
	if own {
		return fmt.Sprintf("%d requests", rounds), nil
	}
	for _, r := range saidRounds() {
		if err := try(response.Case{Back: r.back}, r.stream); err != nil {
			return "", err
		}
	}
	if rounds == 0 {
		return skip("it makes no tool call of any stream of OpenAI's form, and no case says by `back` what its API wants back")
	}
	return fmt.Sprintf("%d requests", rounds), nil
}

// lost runs a stream and asks for the requests that follow: of the next round, of an
// answer that goes on from the client's calls, and of one to a later question. It
// returns how many there were, none where the stream came to no call, and the first
// thing of c.Back that one of them does not have; unless all is wanted, only of what
// the plugin is given for it.
func (s *subject) lost(g *guest, c response.Case, st stream, all bool) (requests int, lost string, err error) {
	o, _, err := st.run(g)
	switch {
	case err != nil:
		return 0, "", err
	case o.declared != "" || o.FinishReason == nil || len(o.ToolCalls) == 0 && !all:
		return 0, "", nil
	}
	of := c.Input
	if len(of) == 0 {
		of = mustJSON(&abi.EncodeRequest{Settings: settings(s.manifest), Options: ExampleOptions(s.manifest)})
	}
	in, err := o.NextRequest(of)
	if err != nil {
		return 0, "", err
	}
	if given := mustJSON(in); !all {
		c.Back = slices.DeleteFunc(slices.Clone(c.Back), func(back string) bool {
			return response.Case{Back: []string{back}}.Lost(given) != nil
		})
	}
	goesOn, later := *in, *in
	goesOn.Round, later.Round = 0, 0
	later.Chat = abi.RawJSON(bytes.Replace(in.Chat, []byte(`],"model"`), []byte(`,{"role":"assistant","content":"Answer"},{"role":"user","content":"Question"}],"model"`), 1))
	if len(in.TextCarry) > 0 {
		later.TextCarry = append(slices.Clone(in.TextCarry), "")
	}
	if bytes.Equal(later.Chat, in.Chat) {
		return 0, "", errors.New("the chat of the next request has another form")
	}
	for _, next := range []struct {
		name string
		in   *abi.EncodeRequest
	}{{"the round behind ", in}, {"the answer that goes on from ", &goesOn}, {"the later question behind ", &later}} {
		r, err := g.call(abi.FuncEncode, input{next.name + st.name, mustJSON(next.in)})
		if err != nil {
			return requests, "", err
		}
		if r.declared != nil {
			return requests, "", errors.New(next.name + st.name + " is answered with " + r.String())
		}
		var e abi.EncodeResponse
		if err := json.Unmarshal(r.answer, &e); err != nil {
			return requests, "", err
		}
		if e.Reply != nil {
			return requests, "", nil // it asks nobody
		}
		requests++
		if lost := c.Lost(e.Body); len(lost) > 0 {
			return requests, next.name + "it: " + lost[0], nil
		}
	}
	return requests, "", nil
}

// A saidRound is a response of OpenAI's form that calls, and what must come back.
type saidRound struct {
	stream
	back []string
}

func saidRounds() []saidRound {
	const (
		head = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763700000,"model":"m-1","choices":[`
		stop = head + `{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
		call = head + `{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"searchInIndex","arguments":"{\"q\":\"a\"}"%s}%s}]},"finish_reason":null}]}`
	)
	plain := fmt.Sprintf(call, "", "")
	delta := func(members string) string {
		return head + `{"index":0,"delta":{` + members + `},"finish_reason":null}]}`
	}
	return []saidRound{
		{
			streamOf("a round with reasoning_content", delta(`"role":"assistant","reasoning_content":"kit \"rea"`), delta(`"reasoning_content":"soning\"\u00e9"`), plain, stop, "[DONE]"),
			[]string{`"reasoning_content"`, "kit \"reasoning\"é"},
		},
		{
			streamOf("a round with reasoning and its details",
				delta(`"role":"assistant","reasoning":"kit rea","reasoning_details":[{"type":"reasoning.text","text":"kit rea","index":0}]`),
				delta(`"reasoning":"soning","reasoning_details":[{"type":"reasoning.text","text":"soning","signature":"a2l0","index":0}]`),
				delta(`"reasoning_details":[{"type":"reasoning.encrypted","data":"a2l0ZGF0YQ","index":1}]`), plain, stop, "[DONE]"),
			[]string{`"reasoning"`, `"reasoning_details"`, "kit reasoning", `"a2l0"`, `"a2l0ZGF0YQ"`},
		},
		{
			streamOf("a round with members that no record knows",
				delta(`"role":"assistant","content":"kit text","x_new":{"a":[1,2.50]}`),
				fmt.Sprintf(call, `,"provider_specific_fields":{"thought_signature":"a2l0Zg"}`, `,"extra_content":{"google":{"thought_signature":"a2l0Yw"}}`), stop, "[DONE]"),
			[]string{"kit text", `"x_new":{"a":[1,2.50]}`, `"provider_specific_fields":{"thought_signature":"a2l0Zg"}`, `"extra_content":{"google":{"thought_signature":"a2l0Yw"}}`},
		},
	}
}
