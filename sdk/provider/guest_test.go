package provider

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/rawjson"
)

// counter counts its events in its state and keeps their text in the memo; act
// does the rest.
type counter struct {
	act    func(Event, *Out) error
	encode func(*Request) (HTTPRequest, error)
}

type counterState struct {
	Events uint32
	Flags  [3]bool
}

func (c counter) Encode(r *Request) (HTTPRequest, error) { return c.encode(r) }

func (c counter) Decode(s *counterState, e Event, out *Out) error {
	s.Events++
	out.Memo = append(bytes.Clone(out.Memo), e.Data...)
	if e.End {
		out.Text([]byte{'0' + byte(s.Events)})
		out.Text(out.Memo)
	}
	if c.act != nil {
		return c.act(e, out)
	}
	return nil
}

func (counter) Error(r *Response) ProviderError {
	return ProviderError{Kind: "k", Message: r.Header("x") + string(r.Body), RetryAfterMS: int64(r.Status)}
}

// call runs decode once.
func call(t *testing.T, g Guest, state []byte, flags byte, data ...string) (next, records []byte) {
	t.Helper()
	var events []abi.Event
	for _, d := range data {
		events = append(events, abi.Event{Data: []byte(d)})
	}
	out, err := g.Decode(abi.AppendDecodeInput(nil, state, flags, events))
	if err != nil {
		t.Fatal(err)
	}
	next, records, err = abi.DecodeOutput(out)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(next), bytes.Clone(records)
}

func TestStateTravels(t *testing.T) {
	a, b := NewGuest(counter{}), NewGuest(counter{}) // two instances
	one, _ := call(t, a, nil, abi.FlagFirst, "x")
	other, _ := call(t, a, nil, abi.FlagFirst, "1", "2")
	one, _ = call(t, b, one, 0, "y", "z")
	_, records := call(t, b, other, abi.FlagLast)
	if want := text("3", "12"); !bytes.Equal(records, want) {
		t.Errorf("the other stream came to %q, want %q", records, want)
	}
	_, records = call(t, a, one, abi.FlagLast)
	if want := text("4", "xyz"); !bytes.Equal(records, want) {
		t.Errorf("the one stream came to %q, want %q", records, want)
	}
}

func text(pieces ...string) (b []byte) {
	for _, p := range pieces {
		b = abi.AppendRecord(b, abi.RecordText, p)
	}
	return b
}

func TestDecodeRefuses(t *testing.T) {
	g := NewGuest(counter{})
	for name, in := range map[string][]byte{
		"garbage":                    {1, 2, 3},
		"a state of another version": abi.AppendDecodeInput(nil, []byte{0, 1}, 0, nil),
	} {
		_, err := g.Decode(in)
		if d, ok := errors.AsType[*DeclaredError](err); !ok || d.Code != abi.CodeMalformed {
			t.Errorf("%s: error %v, want a declared one of code %d", name, err, abi.CodeMalformed)
		}
	}
	long := NewGuest(counter{act: func(_ Event, out *Out) error { out.Memo = make([]byte, MaxMemo+1); return nil }})
	_, err := long.Decode(abi.AppendDecodeInput(nil, nil, 0, []abi.Event{{}}))
	if d, ok := errors.AsType[*DeclaredError](err); !ok || d.Code != abi.CodeFailed {
		t.Errorf("a memo too long: error %v, want a declared one of code %d", err, abi.CodeFailed)
	}
}

func TestErrorEndsStream(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"any error":        {errors.New("odd"), `{"kind":"plugin","message":"odd"}`},
		"a provider error": {ProviderError{Kind: "quota", Message: "m"}, `{"kind":"quota","message":"m"}`},
		"one with advice":  {ProviderError{Kind: "quota", Message: "m", Advice: "a"}, `{"kind":"quota","message":"m","advice":"a"}`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewGuest(counter{act: func(e Event, _ *Out) error {
				if string(e.Data) == "bad" {
					return tt.err
				}
				return nil
			}})
			state, records := call(t, g, nil, abi.FlagFirst, "a", "bad", "b")
			if want := abi.AppendRecord(nil, abi.RecordError, tt.want); !bytes.Equal(records, want) {
				t.Errorf("records = %q, want %q", records, want)
			}
			if _, records = call(t, g, state, abi.FlagLast, "c"); len(records) > 0 {
				t.Errorf("records after the error: %q", records)
			}
		})
	}
}

func TestFinishEndsContent(t *testing.T) {
	g := NewGuest(counter{act: func(e Event, out *Out) error {
		if e.End {
			return nil
		}
		out.Text(nil)
		out.Extra(rawjson.Value(`{}`))
		out.Text([]byte("a\xff"))
		out.Finish("stop")
		out.Finish("length")
		out.Text([]byte("b"))
		out.ToolStart(0, "i", "n")
		out.Usage(Usage{Total: 1})
		return nil
	}})
	_, records := call(t, g, nil, abi.FlagFirst|abi.FlagLast, "x")
	want := abi.AppendRecord(text("a\ufffd"), abi.RecordFinish, "stop")
	want = abi.AppendUsage(want, abi.Usage{Total: 1}, nil)
	if !bytes.Equal(records, want) {
		t.Errorf("records = %q, want %q", records, want)
	}
}

// TestEncodeSettings holds what is kept of the last request's settings to the
// next request's.
func TestEncodeSettings(t *testing.T) {
	g := NewGuest(counter{encode: func(r *Request) (HTTPRequest, error) {
		h := HTTPRequest{URL: r.Settings.BaseURL + r.Settings.APIKey}
		r.Settings.BaseURL = "spoilt"
		return h, nil
	}})
	for _, tt := range []struct{ settings, url string }{
		{`"settings":{"baseUrl":"a"},`, "a"},
		{`"settings":{"baseUrl":"a"},`, "a"},
		{`"settings":{"baseUrl":"b"},`, "b"},
		{``, ""},
		{`"settings":{"baseUrl":"b"},`, "b"},
		{`"settings":{"apiKey":"c"},`, "c"},
		{`"settings":{},`, ""},
	} {
		out, err := g.Encode([]byte(`{` + tt.settings + `"chat":{}}`))
		if want := `{"method":"POST","url":"` + tt.url + `","headers":{}}`; err != nil || string(out) != want {
			t.Errorf("Encode with %s = %s, %v, want %s", tt.settings, out, err, want)
		}
	}
}

func TestEncode(t *testing.T) {
	var got *Request
	answer, fail := HTTPRequest{}, error(nil)
	g := NewGuest(counter{encode: func(r *Request) (HTTPRequest, error) { got = r; return answer, fail }})
	in := []byte(`{"settings":{"baseUrl":"u","apiKey":"${apiKey}"},"chat":{"model":"m"},"round":2,"attempt":1,"carry":["AP8=",""]}`)

	answer = HTTPRequest{URL: "http://h/\"", Headers: []Header{{"A", "1\n"}, {"B", "2"}}, Body: []byte(`{"x": 1}`), Framing: abi.FramingSSE}
	out, err := g.Encode(in)
	if want := `{"method":"POST","url":"http://h/\"","framing":"sse","headers":{"A":"1\n","B":"2"},"body":{"x": 1}}`; err != nil || string(out) != want {
		t.Errorf("Encode = %s, %v, want %s", out, err, want)
	}
	if got.Settings.BaseURL != "u" || got.Settings.APIKey != abi.PlaceholderAPIKey || string(got.Chat) != `{"model":"m"}` ||
		got.Round != 2 || got.Attempt != 1 || len(got.Carry) != 2 || !bytes.Equal(got.Carry[0], []byte{0, 255}) {
		t.Errorf("the provider got %+v", got)
	}

	// What is kept of a request is not taken for the next one.
	for _, next := range []struct {
		change func()
		want   string
	}{
		{func() { answer.Body = nil }, `{"method":"POST","url":"http://h/\"","framing":"sse","headers":{"A":"1\n","B":"2"}}`},
		{func() { answer.URL = "u" }, `{"method":"POST","url":"u","framing":"sse","headers":{"A":"1\n","B":"2"}}`},
		{func() { answer.Method = "GET" }, `{"method":"GET","url":"u","framing":"sse","headers":{"A":"1\n","B":"2"}}`},
		{func() { answer.Headers[1].Value = "3" }, `{"method":"GET","url":"u","framing":"sse","headers":{"A":"1\n","B":"3"}}`},
		{func() { answer.Framing = "" }, `{"method":"GET","url":"u","headers":{"A":"1\n","B":"3"}}`},
		{func() { answer.Headers = nil }, `{"method":"GET","url":"u","headers":{}}`},
	} {
		next.change()
		if out, err := g.Encode(in); err != nil || string(out) != next.want {
			t.Errorf("Encode = %s, %v, want %s", out, err, next.want)
		}
	}

	answer = HTTPRequest{Reply: []byte("é\x00")}
	if out, err = g.Encode(in); err != nil || string(out) != `{"reply":"é\u0000"}` {
		t.Errorf("Encode of a reply = %s, %v", out, err)
	}

	for code, err := range map[uint32]error{abi.CodeRefused: Refuse("no"), abi.CodeFailed: errors.New("no")} {
		fail = err
		_, err := g.Encode(in)
		if d, ok := errors.AsType[*DeclaredError](err); !ok || d.Code != code || d.Message != "no" {
			t.Errorf("Encode that failed: %v, want code %d", err, code)
		}
	}
	for _, in := range []string{``, `{}`, `{"chat":[]}`, `{"chat":{},"carry":["*"]}`} {
		_, err := g.Encode([]byte(in))
		if d, ok := errors.AsType[*DeclaredError](err); !ok || d.Code != abi.CodeMalformed {
			t.Errorf("Encode(%s): error %v, want code %d", in, err, abi.CodeMalformed)
		}
	}
}

func TestError(t *testing.T) {
	g := NewGuest(counter{})
	out, err := g.Error([]byte(`{"status":429,"headers":{"x":"a"},"body":"<b\n>"}`))
	if want := `{"kind":"k","message":"a<b\n>","retry_after_ms":429}`; err != nil || string(out) != want {
		t.Errorf("Error = %s, %v, want %s", out, err, want)
	}
	if _, err := g.Error([]byte(`[]`)); err == nil {
		t.Error("Error took an array")
	}
}

type pointed struct{ counter }

func (pointed) Decode(*struct{ S [2]struct{ P *int } }, Event, *Out) error { return nil }

func TestNewGuestRefusesPointers(t *testing.T) {
	defer func() {
		if r, _ := recover().(string); !strings.Contains(r, "pointers") {
			t.Errorf("NewGuest of a state with pointers: %q, want a panic that says so", r)
		}
	}()
	NewGuest(pointed{})
}

type patterned struct{ counter }

func (patterned) Pattern(_ *counterState, out *Out) {
	out.Pattern(&abi.Pattern{Kind: abi.RecordText, Holes: []abi.Hole{{What: abi.HoleText, Before: []byte(`"`)}}, Tail: []byte(`"`)})
}

// TestPatterned: a provider is asked for its pattern where the host takes one, at
// the end of a call behind which the response goes on.
func TestPatterned(t *testing.T) {
	finish := counter{act: func(_ Event, out *Out) error { out.Finish("stop"); return nil }}
	for _, tt := range []struct {
		name  string
		p     Provider[counterState]
		flags byte
		want  bool
	}{
		{"asked for", patterned{}, abi.FlagFirst | abi.FlagPatterns, true},
		{"not asked for", patterned{}, abi.FlagFirst, false},
		{"no events", patterned{}, abi.FlagFirst | abi.FlagPatterns, false},
		{"the last call", patterned{}, abi.FlagLast | abi.FlagPatterns, false},
		{"behind the finish", patterned{finish}, abi.FlagPatterns, false},
		{"of a provider without", counter{}, abi.FlagPatterns, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events := []string{"a", "b"}
			if tt.name == "no events" {
				events = nil
			}
			_, records := call(t, NewGuest(tt.p), nil, tt.flags, events...)
			found := 0
			for len(records) > 0 {
				r, rest, _, err := abi.NextRecord(records)
				if err != nil {
					t.Fatal(err)
				}
				if r.Kind == abi.RecordPattern {
					found++
				}
				records = rest
			}
			if want := map[bool]int{true: 1}[tt.want]; found != want {
				t.Errorf("%d patterns, want %d", found, want)
			}
		})
	}
}

// TestVectors makes the records of the contract's vectors through Out.
func TestVectors(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "abi", "testdata", "vectors", "records.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Name, Hex, Text, Bytes, ID, Tool, Model string
			Kind                                    abi.RecordKind
			Index                                   int
			Usage                                   [5]uint64
			Error                                   ProviderError
			Again                                   Again
			Pattern                                 struct {
				Kind       abi.RecordKind
				Report     bool
				Index      uint32
				Type, Tail string
				Holes      []struct {
					What   abi.HoleKind
					Before string
				}
			}
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	for _, v := range file.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			g := NewGuest(counter{act: func(e Event, out *Out) error {
				switch v.Kind {
				case abi.RecordText:
					out.Text([]byte(v.Text))
				case abi.RecordReasoning:
					out.Reasoning([]byte(v.Text))
				case abi.RecordRefusal:
					out.Refusal([]byte(v.Text))
				case abi.RecordToolStart:
					out.ToolStart(v.Index, v.ID, v.Tool)
				case abi.RecordToolArguments:
					out.ToolArguments(v.Index, []byte(v.Text))
				case abi.RecordFinish:
					out.Finish(v.Text)
				case abi.RecordUsage:
					u := Usage{Prompt: v.Usage[0], Completion: v.Usage[1], Total: v.Usage[2], Cached: v.Usage[3], Reasoning: v.Usage[4]}
					if v.Text != "" {
						out.UsageMembers(u, rawjson.Value(v.Text))
					} else {
						out.Usage(u)
					}
				case abi.RecordError:
					out.Error(v.Error)
				case abi.RecordResponse:
					out.Response(v.ID, v.Model)
				case abi.RecordCarry:
					b, _ := hex.DecodeString(v.Bytes)
					out.Carry(b)
				case abi.RecordExtra:
					out.Extra(rawjson.Value(v.Text))
				case abi.RecordOuter:
					whole := rawjson.Value(v.Text)
					out.Outer(whole.Get("chunk"), whole.Get("choice"))
				case abi.RecordAgain:
					out.Again(v.Again)
				case abi.RecordPattern:
					told := abi.Pattern{Kind: v.Pattern.Kind, Report: v.Pattern.Report, Index: v.Pattern.Index, Type: []byte(v.Pattern.Type), Tail: []byte(v.Pattern.Tail)}
					for _, h := range v.Pattern.Holes {
						told.Holes = append(told.Holes, abi.Hole{What: h.What, Before: []byte(h.Before)})
					}
					out.Pattern(&told)
				}
				return nil
			}})
			if _, records := call(t, g, nil, abi.FlagFirst, "x"); hex.EncodeToString(records) != v.Hex {
				t.Errorf("record = %x, want %s", records, v.Hex)
			}
		})
	}
}

// TestEncodeSecond has what ABI 2 adds to a request and to its answer.
func TestEncodeSecond(t *testing.T) {
	var got string
	g := NewGuest(counter{encode: func(r *Request) (HTTPRequest, error) {
		got = r.Option("region") + " " + r.Option("n") + " " + r.Option("none")
		if r.IsSet("apiKey") && !r.IsSet("none") {
			return HTTPRequest{URL: "u", Auth: "key", Head: []string{"A", "b"}, Body: []byte("{}")}, nil
		}
		return HTTPRequest{URL: "u"}, nil
	}})
	for in, want := range map[string]string{
		`"options":{"region":"eu\u002d1","n":7,"apiKey":true},`: `{"method":"POST","url":"u","headers":{},"body":{},"auth":"key","head":["A","b"]}`,
		``: `{"method":"POST","url":"u","headers":{}}`,
	} {
		out, err := g.Encode([]byte("{" + in + `"chat":{}}`))
		if err != nil || string(out) != want || in != "" && got != "eu-1 7 " {
			t.Errorf("Encode with %s = %s, %v with %q, want %s", in, out, err, got, want)
		}
	}
}

// TestStep has what a step is asked with, and what ends one: behind an again nothing
// counts but a carry, also where the end of the response comes in the same call.
func TestStep(t *testing.T) {
	var got Request
	g := NewGuest(counter{
		encode: func(r *Request) (HTTPRequest, error) {
			got = *r
			return HTTPRequest{URL: "u", FirstByteSeconds: 9}, nil
		},
		act: func(e Event, out *Out) error {
			if e.End {
				return Errorf(ErrorUpstream, "the response ended early")
			}
			out.Again(Again{AfterMS: 1 << 20})
			out.Text([]byte("late"))
			out.Carry([]byte("job"))
			out.Finish("stop")
			return nil
		},
	})
	out, err := g.Encode([]byte(`{"chat":{},"step":3,"stepCarry":"am9i","cancelled":true,"requestId":"r"}`))
	if err != nil || string(out) != `{"method":"POST","url":"u","headers":{},"firstByteSeconds":9}` || got.Step != 3 || string(got.StepCarry) != "job" || !got.Cancelled || got.RequestID != "r" {
		t.Errorf("Encode = %s, %v of %+v; want step 3 with its carry", out, err, got)
	}
	if _, err := g.Encode([]byte(`{"chat":{},"stepCarry":"?"}`)); err == nil {
		t.Error("a carry that is not base64 was taken")
	}
	_, records := call(t, g, nil, abi.FlagFirst|abi.FlagLast, "x")
	want := abi.AppendRecord(abi.AppendAgain(nil, abi.Again{AfterMS: abi.MaxAgainMS}), abi.RecordCarry, "job")
	if hex.EncodeToString(records) != hex.EncodeToString(want) {
		t.Errorf("records = %x, want an again and its carry, %x", records, want)
	}
}

func TestErrorf(t *testing.T) {
	for want, got := range map[string]ProviderError{
		"upstream: no":              Errorf(ErrorUpstream, "no"),
		"auth: key a%sb of c":       Errorf(ErrorAuth, "key %s of %s", "a%sb", "c"),
		"quota: one, and more: %s":  Errorf(ErrorQuota, "%s, and more: %s", "one"),
		"timeout: after 3 s, or so": Errorf(ErrorTimeout, "after %s", "3 s, or so", "unused"),
	} {
		if got.Error() != want {
			t.Errorf("Errorf = %q, want %q", got.Error(), want)
		}
	}
}
