package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/setup/trial"
)

// An unruly writer writes one answer as servers do that keep to no rule of theirs: events and
// members come in any order and dress, and say the same.
type unruly struct {
	*rand.Rand
	b   strings.Builder
	end string // of a line
}

// pick returns one of texts.
func (f *unruly) pick(texts ...string) string { return texts[f.IntN(len(texts))] }

// member returns members of an object in a random order, among others that say nothing.
func (f *unruly) object(members ...string) string {
	for range f.IntN(3) {
		members = append(members, fmt.Sprintf(`"x_%d":%s`, f.IntN(1e6), f.pick("null", "{}", "[]", `"a\"b"`, "NaN", "-Infinity", "1e5", "false")))
	}
	f.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	between := f.pick(",", ", ", " ,\t")
	return "{" + strings.Join(members, between) + "}"
}

// line writes a line of the stream.
func (f *unruly) line(text string) { f.b.WriteString(text + f.end) }

// event writes an event, among comments and heartbeats.
func (f *unruly) event(data string) {
	switch f.IntN(6) {
	case 0:
		f.line(f.pick(": ping", ":", ": OPENROUTER PROCESSING", "id: 7", "retry: 500"))
	case 1:
		f.line(":")
		f.line("")
	}
	f.line(f.pick("data: ", "data:") + data)
	f.line("")
}

// chunk writes a chunk with a delta.
func (f *unruly) chunk(finish, usage string, delta ...string) {
	if f.IntN(4) == 0 {
		delta = append(delta, f.pick(`"refusal":null`, `"tool_calls":null`, `"function_call":null`, `"reasoning_content":null`, `"role":"assistant"`))
	}
	choice := []string{`"index":0`, `"delta":` + f.object(delta...)}
	if finish != "" || f.IntN(2) == 0 {
		word := "null"
		if finish != "" {
			word = `"` + finish + `"`
		}
		choice = append(choice, `"finish_reason":`+word)
	}
	if f.IntN(4) == 0 {
		choice = append(choice, `"logprobs":null`)
	}
	members := []string{`"id":"c1"`, `"object":"chat.completion.chunk"`, fmt.Sprintf(`"created":%d`, f.IntN(100)), `"model":"m"`, `"choices":[` + f.object(choice...) + `]`}
	if usage != "" || f.IntN(4) == 0 {
		if usage == "" {
			usage = "null"
		}
		members = append(members, `"usage":`+usage)
	}
	f.event(f.object(members...))
}

// framed writes an answer of texts, reasoning and a call, with its end.
func framed(seed uint64) string {
	f := &unruly{Rand: rand.New(rand.NewPCG(seed, 43))}
	f.end = f.pick("\n", "\r\n", "\r")
	f.b.WriteString(f.pick("", "", "\ufeff"))
	if f.IntN(2) == 0 {
		f.chunk("", "", `"role":"assistant"`, `"content":""`)
	}
	for _, s := range []string{"I ", "think."} {
		f.chunk("", "", `"reasoning_content":"`+s+`"`)
	}
	for _, s := range []string{"Hel", "lo ", `\u00fc\n`, "{", "\U0001F680"} {
		f.chunk("", "", `"content":"`+s+`"`)
		if f.IntN(5) == 0 {
			f.chunk("", "", `"content":`+f.pick(`""`, "null"))
		}
	}
	id := f.pick(`"id":"t1"`, `"id":"t1","type":"function"`)
	name := []string{`"name":"get_weather"`}
	if f.IntN(3) == 0 { // in pieces
		f.chunk("", "", `"tool_calls":[`+f.object(`"index":0`, id, `"function":{"name":"get_","arguments":""}`)+`]`)
		id, name = `"id":null`, []string{`"name":"weather"`}
	}
	f.chunk("", "", `"tool_calls":[`+f.object(`"index":0`, id, `"function":`+f.object(append(name, `"arguments":`+f.pick(`""`, `"{\"at\":"`))...))+`]`)
	first := strings.Contains(f.lastData(), `{\"at\":`)
	if !first {
		f.chunk("", "", `"tool_calls":[{"index":0,"function":{"arguments":"{\"at\":"}}]`)
	}
	f.chunk("", "", `"tool_calls":[`+f.object(`"index":0`, `"function":{"arguments":"\"Rome\"}"}`)+`]`)
	const usage = `{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":2}}`
	only := func() {
		f.event(f.object(`"id":"c1"`, `"model":"m"`, `"choices":`+f.pick("[]", "null"), `"usage":`+usage))
	}
	where := f.IntN(3)
	if where == 0 {
		only()
	}
	with := ""
	if where == 1 {
		with = usage
	}
	f.chunk("tool_calls", with)
	if f.IntN(4) == 0 {
		f.chunk("tool_calls", "")
	}
	if where == 2 {
		only()
	}
	if f.IntN(4) > 0 {
		f.event("[DONE]")
	}
	return f.b.String()
}

// lastData is the last line of data.
func (f *unruly) lastData() string {
	s := f.b.String()
	return s[strings.LastIndex(s, "data:"):]
}

// TestFraming: whatever a stream's framing, order and dress, and wherever the network
// cuts it, the answer of each plugin of OpenAI's form is the same.
func TestFraming(t *testing.T) {
	t.Parallel()
	seeds := uint64(40)
	if house.Long() {
		seeds = 2000
	}
	const want = `{"text":"Hello ü\n{🚀","reasoning":"I think.","refusal":"","tool_calls":[{"name":"get_weather","arguments":{"at":"Rome"}}],"finish_reason":"tool_calls","usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12},"error":null}`
	for source, name := range map[string]string{"openAi": "openai", "vLlm": "vllm", "mistral": "mistral", "azureOpenAi": "azureopenai"} {
		t.Run(source, func(t *testing.T) {
			r, err := trial.OpenReplayer(t.Context(), source, trial.Options{CacheDir: house.CompiledModules(t)}, house.Shipped(t, name))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for seed := range seeds {
				body := framed(seed)
				got, err := r.Aggregate(t.Context(), trial.Recording{
					Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: []byte(body), BaseURL: "http://127.0.0.1:9", Rechunk: 1 + int(seed)*7%90, Seed: seed,
				})
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if a, ok := got.(*response.Aggregate); ok && len(a.Broken) > 0 {
					t.Errorf("seed %d: rules are broken: %q of %q", seed, a.Broken, body)
				}
				var b strings.Builder
				e := json.NewEncoder(&b)
				e.SetEscapeHTML(false)
				if err := e.Encode(got); err != nil {
					t.Fatal(err)
				}
				if strings.TrimSpace(b.String()) != want {
					t.Errorf("seed %d: %s\nwant %s\nof %q", seed, b.String(), want, body)
					return
				}
			}
		})
	}
}
