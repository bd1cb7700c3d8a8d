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
	"unicode/utf16"
	"unicode/utf8"

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

// quote writes a text as JSON: as it is, or with escapes for some of what is not ASCII. It
// takes halves, see cut.
func (s *sayer) quote(text string) string {
	escape := s.IntN(2) == 0
	b := []byte{'"'}
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1: // half a character
			n = 3
			b = fmt.Appendf(b, `\u%04x`, rune(text[0]&0xf)<<12|rune(text[1]&0x3f)<<6|rune(text[2]&0x3f))
		case r < 0x80 || !escape:
			plain := must(json.Marshal(text[:n]))
			b = append(b, plain[1:len(plain)-1]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04X`, r)
		}
		text = text[n:]
	}
	return string(append(b, '"'))
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

// cut cuts a text into pieces, between characters, or between the halves that some have
// in JSON: each then stands as the three bytes that UTF-8 would have for it.
func (s *sayer) cut(text string) (pieces []string) {
	var units []string
	for _, r := range text {
		if high, low := utf16.EncodeRune(r); r > 0xffff && s.IntN(2) == 0 {
			units = append(units, half(high), half(low))
		} else {
			units = append(units, string(r))
		}
	}
	for len(units) > 0 {
		n := 1 + s.IntN(len(units))
		if s.IntN(8) == 0 {
			n, pieces = 0, append(pieces, "")
		}
		if n > 0 {
			pieces = append(pieces, strings.Join(units[:n], ""))
		}
		units = units[n:]
	}
	return pieces
}

func half(r rune) string {
	return string([]byte{0xe0 | byte(r>>12), 0x80 | byte(r>>6)&0xbf, 0x80 | byte(r)&0x3f})
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

// openAI is the answer as a stream of OpenAI's form, the thoughts under one of several
// names; none: as parts of the content.
func (s *sayer) openAI(names ...string) string {
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
	name, text := "", s.text
	if len(names) > 0 {
		name = s.one(names...)
	}
	if s.tags() {
		text = "<think>" + s.thought + "</think>" + text
	} else {
		for _, piece := range s.cut(s.thought) {
			if name == "" {
				say(`"content":[{"type":"thinking","thinking":[{"type":"text","text":` + s.quote(piece) + `}]}]`)
			} else {
				say(`"` + name + `":` + s.quote(piece))
			}
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

// events frames events whose names are their types, or have none.
func (s *sayer) events(events []string) string {
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

// saidForms are the sources, with the form in which a provider of each says its answer.
var saidForms = map[string]func(*sayer) (body, kind string){
	"openAi": func(s *sayer) (string, string) {
		return s.openAI("reasoning_content", "reasoning"), "text/event-stream"
	},
	"vLlm": func(s *sayer) (string, string) {
		return s.openAI("reasoning_content", "reasoning"), "text/event-stream; charset=utf-8"
	},
	"mistral":   func(s *sayer) (string, string) { return s.openAI(), "text/event-stream" },
	"ollama":    func(s *sayer) (string, string) { return s.ollama(), "application/x-ndjson" },
	"anthropic": func(s *sayer) (string, string) { return s.anthropic(), "text/event-stream" },
	"gemini":    func(s *sayer) (string, string) { return s.gemini(), "text/event-stream" },
	"cohere":    func(s *sayer) (string, string) { return s.cohere(), "text/event-stream" },
	"bedrock":   func(s *sayer) (string, string) { return s.bedrock(), "application/vnd.amazon.eventstream" },
}

// openRandom opens a host for random answers: n of each source, from a seed on.
func openRandom(t *testing.T) (q *quirks, n int, first uint64) {
	q = openQuirks(t, "openai", "vllm", "mistral", "ollama", "anthropic", "gemini", "cohere", "bedrock")
	n, first = 6, 1
	if v, err := strconv.Atoi(os.Getenv("SAYINGS")); err == nil {
		n = v
	} else if house.Long() {
		n = 20
	}
	if v, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		first = v
	}
	return q, n, first
}

// saying makes a workspace of a source.
func (q *quirks) saying(name, source string, how func(asked) told) {
	more := ""
	if source == "bedrock" {
		more = `,"options":{"region":"us-east-1"}`
	}
	q.workspace(name, source, more, how)
}

// TestWhatProvidersSay: what a provider says goes out by each form of the API, whole and
// streamed, whatever form it has. SAYINGS is how many answers of each provider are tried,
// SEED which is the first.
func TestWhatProvidersSay(t *testing.T) {
	t.Parallel()
	q, n, first := openRandom(t)
	for source, form := range saidForms {
		for seed := first; seed < first+uint64(n); seed++ {
			name := fmt.Sprintf("%s-%d", strings.ToLower(source), seed)
			want := newSayer(seed).saidAnswer
			var body string
			q.saying(name, source, func(asked) told {
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
