package e2e

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// A said answer is what a provider says, whatever form it has.
type saidAnswer struct {
	thought, text string
	calls         []saidCall
	finish        string
}

type saidCall struct{ name, arguments string }

// A sayer says an answer in a form of its provider, with quirks that are legal, or that
// servers of that form are known for.
type sayer struct {
	*rand.Rand
	saidAnswer
}

var sayings = []string{"Alpha", " is", " a film.", "\n\n", "\"quoted\"", "\\", " 😀🏳️‍🌈", " Käse", " 日本語", "<b>", " {\"a\": 1}", "\t", " data: x", "[DONE]", "</think", "\u2028", " \u00a0"}

func (s *sayer) words(n int) (all []string) {
	for range 1 + s.IntN(n) {
		all = append(all, sayings[s.IntN(len(sayings))])
	}
	return all
}

func newSayer(seed uint64) *sayer {
	s := &sayer{Rand: rand.New(rand.NewPCG(seed, 44))}
	s.finish = "stop"
	if s.IntN(2) == 0 {
		s.thought = strings.Join(s.words(6), "")
	}
	if s.IntN(4) > 0 {
		s.text = "So" + strings.Join(s.words(8), "")
	}
	if s.IntN(3) == 0 || s.text == "" {
		s.finish = "tool_calls"
		for i := range 1 + s.IntN(3) {
			s.calls = append(s.calls, saidCall{"f" + strconv.Itoa(s.IntN(2)), `{"n":` + strconv.Itoa(i) + `,"q":` + string(must(json.Marshal(strings.Join(s.words(3), "")))) + `}`})
		}
	} else if s.IntN(4) == 0 {
		s.finish = "length"
	}
	return s
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// quote writes a text as JSON: as it is, or with escapes for some of what is not ASCII.
func (s *sayer) quote(text string) string {
	plain := string(must(json.Marshal(text)))
	if s.IntN(2) == 0 {
		return plain
	}
	var b strings.Builder
	for _, r := range plain {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	return b.String()
}

// object writes an object with its members, each "name":value, in any order, and with some
// that say nothing.
func (s *sayer) object(members ...string) string {
	for _, n := range []string{"x_null", "refusal", "audio"} {
		if s.IntN(6) == 0 {
			members = append(members, `"`+n+`":null`)
		}
	}
	s.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	space := []string{"", " "}[s.IntN(2)]
	return "{" + space + strings.Join(members, ","+space) + space + "}"
}

// cut cuts a text into pieces, between characters.
func (s *sayer) cut(text string) (pieces []string) {
	for rest := []rune(text); len(rest) > 0; {
		n := 1 + s.IntN(len(rest))
		if s.IntN(8) == 0 {
			n, pieces = 0, append(pieces, "")
		}
		if n > 0 {
			pieces = append(pieces, string(rest[:n]))
		}
		rest = rest[n:]
	}
	return pieces
}

// one returns one of several.
func (s *sayer) one(of ...string) string { return of[s.IntN(len(of))] }

// chunk is a chunk of OpenAI's form. reason is JSON; empty: it has none.
func (s *sayer) chunk(delta, reason string) string {
	if reason == "" {
		reason = s.one("null", "null", `""`)
	}
	choice := []string{`"delta":` + delta, `"finish_reason":` + reason}
	if s.IntN(4) > 0 {
		choice = append(choice, `"index":0`)
	}
	return s.object(`"id":"c1"`, `"object":"chat.completion.chunk"`, `"created":1`, `"model":"m"`, `"choices":[`+s.object(choice...)+`]`)
}

// openAI is the answer as a stream of OpenAI's form.
func (s *sayer) openAI() string {
	var events []string
	say := func(members ...string) {
		if s.IntN(3) == 0 {
			members = append(members, `"role":"assistant"`)
		}
		events = append(events, s.chunk(s.object(members...), ""))
	}
	if s.IntN(3) == 0 {
		say(`"content":` + s.one(`""`, "null"))
	}
	name, text := s.one("reasoning_content", "reasoning"), s.text
	if s.tags() {
		text = "<think>" + s.thought + "</think>" + text
	} else {
		for _, piece := range s.cut(s.thought) {
			say(`"` + name + `":` + s.quote(piece))
		}
	}
	for _, piece := range s.cut(text) {
		say(`"content":` + s.quote(piece))
		if s.IntN(6) == 0 {
			say()
		}
	}
	events = append(events, s.callChunks()...)
	reason := s.finish
	switch {
	case reason == "stop":
		reason = s.one("stop", "STOP", "eos", "end_turn", "stop_sequence")
	case reason == "length":
		reason = s.one("length", "max_tokens", "MAX_TOKENS")
	default:
		reason = s.one("tool_calls", "tool_use", "stop")
	}
	end := s.chunk(s.one("{}", "null", `{"content":""}`, `{"content":null}`, `{"role":"assistant"}`), `"`+reason+`"`)
	const usage = `"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}`
	switch s.IntN(4) {
	case 0:
		end = strings.Replace(end, "{", "{"+usage+",", 1)
		events = append(events, end)
	case 1:
		events = append(events, end, `{"id":"c1","model":"m","choices":`+s.one("[]", "null")+`,`+usage+`}`)
	case 2:
		events = append(events, `{"id":"c1","model":"m",`+usage+`}`, end)
	default:
		events = append(events, end)
	}
	if s.IntN(3) > 0 {
		events = append(events, "[DONE]")
		if s.IntN(3) == 0 {
			events = append(events, s.one("{}", "trailing", s.chunk(`{"content":"late"}`, "")))
		}
	}
	return s.frame(events)
}

// tags reports whether the thoughts come in the text, between tags.
func (s *sayer) tags() bool {
	return s.thought != "" && s.text != "" && !strings.Contains(s.thought, "</think") && s.IntN(3) == 0
}

// callChunks are the calls, whole or in pieces, with or without index and id.
func (s *sayer) callChunks() (events []string) {
	if len(s.calls) == 0 {
		return nil
	}
	how := s.IntN(4)
	var all []string
	for i, c := range s.calls {
		id, index := fmt.Sprintf(`"id":"call_%d"`, i), fmt.Sprintf(`"index":%d`, i)
		head := []string{id, `"type":"function"`}
		if how != 1 {
			head = append(head, index)
		}
		if how == 0 { // whole, all in one delta
			all = append(all, s.object(append(head, `"function":`+s.object(`"name":"`+c.name+`"`, `"arguments":`+s.quote(c.arguments)))...))
			continue
		}
		emit := func(call string) {
			events = append(events, s.chunk(s.object(`"tool_calls":[`+call+`]`), ""))
		}
		emit(s.object(append(head, `"function":`+s.object(`"name":"`+c.name+`"`, `"arguments":""`))...))
		for _, piece := range s.cut(c.arguments) {
			members := []string{`"function":` + s.object(`"arguments":`+s.quote(piece))}
			switch how {
			case 2:
				members = append(members, index)
			case 3:
				members = append(members, index, id)
			}
			emit(s.object(members...))
		}
	}
	if how == 0 {
		events = append(events, s.chunk(s.object(`"tool_calls":[`+strings.Join(all, ",")+`]`), ""))
	}
	return events
}

// frame makes a stream of events, with heartbeats and line ends of all kinds.
func (s *sayer) frame(events []string) string {
	var b strings.Builder
	for _, e := range events {
		for s.IntN(5) == 0 {
			b.WriteString(s.one(": ping\n\n", ":\n\n", "\n", "event: ping\ndata: {}\n\n", "retry: 100\n\n", "id: 7\n\n"))
		}
		b.WriteString(s.one("data: ", "data: ", "data:") + e + "\n\n")
	}
	ends := s.one("\n", "\n", "\r\n", "\r")
	return strings.ReplaceAll(b.String(), "\n", ends)
}

// ollama is the answer as lines of Ollama's form.
func (s *sayer) ollama() string {
	var b strings.Builder
	line := func(done string, members ...string) {
		members = append(members, `"role":"assistant"`)
		all := []string{`"model":"m"`, `"created_at":"t"`, `"message":` + s.object(members...), `"done":false`}
		if done != "" {
			all[3] = `"done":true`
			all = append(all, `"done_reason":"`+done+`"`, `"prompt_eval_count":5`, `"eval_count":7`)
		}
		b.WriteString(s.object(all...) + s.one("\n", "\n", "\r\n", "\n\n"))
	}
	switch {
	case s.tags():
		for _, piece := range s.cut("<think>" + s.thought + "</think>" + s.text) {
			line("", `"content":`+s.quote(piece))
		}
	default:
		for _, piece := range s.cut(s.thought) {
			line("", `"content":""`, `"thinking":`+s.quote(piece))
		}
		for _, piece := range s.cut(s.text) {
			line("", `"content":`+s.quote(piece))
		}
	}
	var calls []string
	for i, c := range s.calls {
		members := []string{`"function":` + s.object(`"name":"`+c.name+`"`, `"arguments":`+c.arguments)}
		if s.IntN(2) == 0 {
			members = append(members, fmt.Sprintf(`"id":"call_%d"`, i))
		}
		calls = append(calls, s.object(members...))
	}
	if len(calls) > 0 && s.IntN(2) == 0 {
		for _, c := range calls {
			line("", `"content":""`, `"tool_calls":[`+c+`]`)
		}
	} else if len(calls) > 0 {
		line("", `"content":""`, `"tool_calls":[`+strings.Join(calls, ",")+`]`)
	}
	done := "stop"
	if s.finish == "length" {
		done = "length"
	}
	line(done, `"content":""`)
	return b.String()
}

// anthropic is the answer as events of Anthropic's form.
func (s *sayer) anthropic() string {
	var events []string
	n := 0
	block := func(begin string, deltas ...string) {
		at := fmt.Sprintf(`"index":%d`, n)
		events = append(events, s.object(`"type":"content_block_start"`, at, `"content_block":`+begin))
		for _, d := range deltas {
			events = append(events, s.object(`"type":"content_block_delta"`, at, `"delta":`+d))
		}
		events = append(events, s.object(`"type":"content_block_stop"`, at))
		n++
	}
	deltas := func(typ, member, text string) (all []string) {
		for _, piece := range s.cut(text) {
			all = append(all, s.object(`"type":"`+typ+`"`, `"`+member+`":`+s.quote(piece)))
		}
		return all
	}
	events = append(events, s.object(`"type":"message_start"`, `"message":`+s.object(`"id":"msg_1"`, `"type":"message"`, `"role":"assistant"`, `"model":"m"`, `"content":[]`, `"stop_reason":null`, `"usage":{"input_tokens":5,"output_tokens":1}`)))
	if s.thought != "" {
		block(s.object(`"type":"thinking"`, `"thinking":""`), append(deltas("thinking_delta", "thinking", s.thought), s.object(`"type":"signature_delta"`, `"signature":"U0lH"`))...)
	}
	if s.text != "" {
		block(s.object(`"type":"text"`, `"text":""`), deltas("text_delta", "text", s.text)...)
	}
	for i, c := range s.calls {
		block(s.object(`"type":"tool_use"`, fmt.Sprintf(`"id":"toolu_%d"`, i), `"name":"`+c.name+`"`, `"input":{}`), deltas("input_json_delta", "partial_json", c.arguments)...)
	}
	reason := map[string]string{"stop": s.one("end_turn", "stop_sequence"), "length": "max_tokens", "tool_calls": "tool_use"}[s.finish]
	events = append(events, s.object(`"type":"message_delta"`, `"delta":`+s.object(`"stop_reason":"`+reason+`"`, `"stop_sequence":null`), `"usage":{"output_tokens":7}`), s.object(`"type":"message_stop"`))
	var b strings.Builder
	named := s.IntN(2) == 0
	for _, e := range events {
		if s.IntN(6) == 0 {
			b.WriteString(s.one(": ping\n\n", "event: ping\ndata: {\"type\":\"ping\"}\n\n", "event: news\ndata: {\"type\":\"news\",\"x\":1}\n\n"))
		}
		if named {
			var t struct{ Type string }
			_ = json.Unmarshal([]byte(e), &t)
			b.WriteString("event: " + t.Type + "\n")
		}
		b.WriteString("data: " + e + "\n\n")
	}
	return strings.ReplaceAll(b.String(), "\n", s.one("\n", "\r\n", "\r"))
}

// send writes a body in pieces of any length, and sometimes packed.
func (s *sayer) send(body, kind string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", kind)
		if s.IntN(5) == 0 {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write([]byte(body))
			_ = z.Close()
			return
		}
		for cuts := s.IntN(6); cuts > 0 && len(body) > 1; cuts-- {
			n := 1 + s.IntN(len(body)-1)
			_, _ = w.Write([]byte(body[:n]))
			_ = http.NewResponseController(w).Flush()
			body = body[n:]
		}
		_, _ = w.Write([]byte(body))
	}
}

// TestWhatProvidersSay: what a provider says goes out by each form of the API, whole and
// streamed, whatever form it has. SAYINGS is how many answers of each provider are tried,
// SEED which is the first.
func TestWhatProvidersSay(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai", "vllm", "mistral", "ollama", "anthropic")
	n, first := 6, uint64(1)
	if v, err := strconv.Atoi(os.Getenv("SAYINGS")); err == nil {
		n = v
	} else if house.Long() {
		n = 20
	}
	if v, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		first = v
	}
	for source, form := range map[string]func(*sayer) (body, kind string){
		"openAi":    func(s *sayer) (string, string) { return s.openAI(), "text/event-stream" },
		"vLlm":      func(s *sayer) (string, string) { return s.openAI(), "text/event-stream; charset=utf-8" },
		"mistral":   func(s *sayer) (string, string) { return s.openAI(), "text/event-stream" },
		"ollama":    func(s *sayer) (string, string) { return s.ollama(), "application/x-ndjson" },
		"anthropic": func(s *sayer) (string, string) { return s.anthropic(), "text/event-stream" },
	} {
		for seed := first; seed < first+uint64(n); seed++ {
			name := fmt.Sprintf("%s-%d", strings.ToLower(source), seed)
			want := newSayer(seed).saidAnswer
			var body string
			q.workspace(name, source, "", func(asked) told {
				s := newSayer(seed)
				b, kind := form(s)
				body = b
				return told{write: s.send(b, kind)}
			})
			for _, d := range askWays {
				for _, streams := range []bool{false, true} {
					if d.streams && !streams {
						continue
					}
					r := d.ask(q, name, streams)
					got, err := saidAnswer{}, error(nil)
					if r.Status == 200 {
						got, err = d.read(r.Body, streams)
					}
					if r.Status != 200 || err != nil || !reflect.DeepEqual(got, want) {
						t.Errorf("%s by %s, streams %v: %d, %v\n got %+q\nwant %+q\nof %q", name, d.path, streams, r.Status, err, got, want, body)
						if r.Status != 200 {
							t.Log(r.Body)
						}
						return
					}
				}
			}
		}
	}
}
