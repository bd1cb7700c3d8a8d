package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

const question = `{"role":"user","content":"Which films did Christopher Nolan direct?"}`

// searchTool offers the host's function over some indexes.
func searchTool(uids ...string) string {
	enum, _ := json.Marshal(uids)
	return `{"type":"function","function":{"name":"searchInIndex","parameters":{"type":"object","properties":{"indexUid":{"type":"string","enum":` + string(enum) + `},"q":{"type":"string"},"filter":{"type":"string"}},"required":["indexUid","q","filter"],"additionalProperties":false}}}`
}

// found is the turn of one search with its answer.
func found(id, index, content string) string {
	c, _ := json.Marshal(content)
	return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"searchInIndex","arguments":"{\"indexUid\":\"%s\",\"q\":\"\",\"filter\":\"\"}"}}]},{"role":"tool","tool_call_id":%q,"content":%s}`, id, index, id, c)
}

// ask runs one round over a chat request and returns what a client would get.
func ask(t *testing.T, chat string) *plugintest.Stream {
	t.Helper()
	d := plugintest.New(extract{})
	r, err := d.Encode(abi.EncodeRequest{Chat: abi.RawJSON(chat)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Reply == nil {
		t.Fatalf("Encode answered %+v, want a reply", r)
	}
	s := d.Stream()
	if err := s.Decode(abi.FlagLast, abi.Event{Data: []byte(*r.Reply)}); err != nil {
		t.Fatal(err)
	}
	for _, problem := range s.Broken {
		t.Error(problem)
	}
	if s.Error != nil || s.FinishReason == nil || s.Usage == nil || s.Usage.Total != s.Usage.Prompt+s.Usage.Completion || s.Usage.Total == 0 {
		t.Errorf("stream ended with error %v, finish %v, usage %v", s.Error, s.FinishReason, s.Usage)
	}
	return s
}

func chat(messages, tools string, more ...string) string {
	return `{"model":"any","messages":[` + messages + `],"tools":[` + tools + `]` + strings.Join(more, "") + `}`
}

func TestSearches(t *testing.T) {
	client := `{"type":"function","function":{"name":"getWeather","parameters":{}}}`
	tests := []struct {
		name string
		chat string
		want []string // index and query of each search
	}{
		{"one index", chat(question, searchTool("movies")), []string{"movies: Which films did Christopher Nolan direct?"}},
		{"several indexes", chat(question, searchTool("movies", "books")), []string{"movies: Which films did Christopher Nolan direct?", "books: Which films did Christopher Nolan direct?"}},
		{"named index first", chat(`{"role":"user","content":"any books on ships?"}`, searchTool("movies", "books")), []string{"books: any books on ships?", "movies: any books on ships?"}},
		{"too many indexes", chat(question, searchTool("a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1", "i1")), []string{
			"a1: Which films did Christopher Nolan direct?", "b1: Which films did Christopher Nolan direct?", "c1: Which films did Christopher Nolan direct?", "d1: Which films did Christopher Nolan direct?",
			"e1: Which films did Christopher Nolan direct?", "f1: Which films did Christopher Nolan direct?", "g1: Which films did Christopher Nolan direct?", "h1: Which films did Christopher Nolan direct?",
		}},
		{"a client's tools are passed over", chat(question, client+","+searchTool("movies")), []string{"movies: Which films did Christopher Nolan direct?"}},
		{"choice of the search", chat(question, searchTool("movies"), `,"tool_choice":{"type":"function","function":{"name":"searchInIndex"}}`), []string{"movies: Which films did Christopher Nolan direct?"}},
		{"required", chat(question, searchTool("movies"), `,"tool_choice":"required"`), []string{"movies: Which films did Christopher Nolan direct?"}},
		{"text parts", chat(`{"role":"user","content":[{"type":"text","text":"population of "},{"type":"text","text":"France?"}]}`, searchTool("facts")), []string{"facts: population of France?"}},
		{"a new question after an answered one", chat(
			question+","+found("call_1_0", "movies", `{"indexUid":"movies","hits":[]}`)+`,{"role":"assistant","content":"none"},{"role":"user","content":"What about Tarantino?"}`,
			searchTool("movies")), []string{"movies: What about Tarantino?"}},
		{"a question that leans on the one before, whose words the host adds", chat(
			question+`,{"role":"assistant","content":"..."},{"role":"user","content":"And which of them in 2010?"}`,
			searchTool("movies")), []string{"movies: And which of them in 2010?"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := ask(t, tt.chat)
			var got []string
			for _, c := range s.ToolCalls {
				var a map[string]any
				if err := json.Unmarshal([]byte(c.Arguments), &a); err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprintf("%v: %v", a["indexUid"], a["q"]))
				if len(a) != 3 || a["filter"] != "" || c.Name != "searchInIndex" {
					t.Errorf("call %s(%v), want searchInIndex with indexUid, q and an empty filter", c.Name, c.Arguments)
				}
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("searches = %q, want %q", got, tt.want)
			}
			if *s.FinishReason != "tool_calls" || s.Text != "" {
				t.Errorf("finish %q with text %q, want tool_calls and none", *s.FinishReason, s.Text)
			}
		})
	}
}

// passages is a search's answer in passages.
func passages(coverage float64) string {
	b, _ := json.Marshal(map[string]any{"indexUid": "docs", "coverage": coverage, "hits": []map[string]any{
		{"id": "1", "title": "Guide > Part", "url": "https://example.org/g#part", "text": "Nolan once."},
		{"source": 2, "id": "2", "title": "films.pdf, page 2", "text": "Directed by Nolan."},
		{"id": "3", "text": "Third."},
		{"id": "4", "text": "Fourth."},
	}})
	return string(b)
}

// sections is a search's answer in which a passage has several short sections.
const sections = `{"indexUid":"docs","coverage":0.9,"hits":[
	{"source":1,"id":"1","title":"handbook.md › Illness","text":"Call the front desk before 9:30 if you are ill.\n\nNotice\nAfter probation the notice period is three months.\n\nSecondary jobs\nThey need the written consent of HR."},
	{"source":2,"id":"2","title":"other.md","text":"Other things, period."}]}`

// films is a search's answer in short records.
const films = `{"indexUid":"films","coverage":0.8,"hits":[
	{"source":1,"id":"7","title":"Insomnia","text":"director: Christopher Nolan\nyear: 2002"},
	{"source":2,"id":"8","title":"Memento","text":"director: Christopher Nolan\nyear: 2000"},
	{"source":3,"id":"9","title":"Tenet","text":"director: Christopher Nolan\nyear: 2020"},
	{"source":4,"id":"1","title":"Jaws","text":"director: Steven Spielberg\nyear: 1975"}]}`

// table is a search's answer with a long table.
var table = oneHit("prices.md", "| part | price |\n|---|---|\n"+strings.Repeat("| P-0400 | 11.50 |\n", 60)+"| P-0421 | 12.50 |\n"+strings.Repeat("| P-0430 | 13.50 |\n", 60))

// coded is a search's answer with code that is longer than a quote.
var coded = oneHit("server.md", strings.Repeat("Some words of introduction. ", 40)+"\n\n```\n[server]\n"+strings.Repeat("key = value # a comment\n", 36)+"max_connections = 5\n```\n\nThe end.")

func oneHit(title, text string) string {
	b, _ := json.Marshal(map[string]any{"indexUid": "docs", "coverage": 0.9, "hits": []map[string]any{{"source": 1, "id": "1", "title": title, "text": text}}})
	return string(b)
}

func TestIDsOfTwoTurnsDiffer(t *testing.T) {
	first := ask(t, chat(question, searchTool("movies")))
	second := ask(t, chat(question+","+found(first.ToolCalls[0].ID, "movies", `{"hits":[]}`)+","+question, searchTool("movies")))
	if len(second.ToolCalls) != 1 || first.ToolCalls[0].ID == second.ToolCalls[0].ID {
		t.Errorf("ids of two turns: %v and %v, want two", first.ToolCalls, second.ToolCalls)
	}
}

func TestSplitWords(t *testing.T) {
	for text, want := range map[string]string{
		"How much is 1.234,50, or Nolan's?": "How|much|is|1.234,50|or|Nolan",
		"steel,brass.Then e-mail":           "steel|brass|Then|e-mail",
		"千と千尋":                              "千と千尋",
		"???":                               "",
	} {
		if got := strings.Join(splitWords(text), "|"); got != want {
			t.Errorf("splitWords(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestAnswer(t *testing.T) {
	long := strings.Repeat("Filler about nothing much. ", 60) + "Then Nolan directed Inception, at last. " + strings.Repeat("More filler. ", 60)
	content, _ := json.Marshal(map[string]any{"indexUid": "movies", "hits": []map[string]any{
		{"id": "9", "text": "title: Jaws\ndirector: Steven Spielberg"},
		{"id": "7", "text": "title: Insomnia\ndirector: Christopher Nolan"},
		{"id": "8", "text": "title: Memento\ndirector: Christopher Nolan"},
		{"id": "7", "text": "title: Insomnia\ndirector: Christopher Nolan"},
	}})
	longHit, _ := json.Marshal(map[string]any{"indexUid": "texts", "hits": []map[string]any{{"id": "1", "text": long}}})
	tests := []struct {
		name    string
		chat    string
		want    []string // in this order
		without []string
	}{
		{
			"quotes and cites, best first", chat(question+","+found("c", "movies", string(content)), searchTool("movies")),
			[]string{"These 2 passages", "> title: Insomnia\n> director: Christopher Nolan\n> [movies/7]", "[movies/8]", "Quoted by extract", "`source`"},
			[]string{"Jaws"},
		},
		{
			"a stretch of a long text", chat(question+","+found("c", "texts", string(longHit)), searchTool("texts")),
			[]string{"Nolan directed Inception", "[texts/1]"},
			[]string{strings.Repeat("Filler about nothing much. ", 20)},
		},
		{
			"passages in the host's order, those that are near the best", chat(question+","+found("c", "docs", passages(0.8)), searchTool("docs")),
			[]string{"These 2 passages", "> Nolan once.\n> — [Guide › Part](https://example.org/g#part)", "> Directed by Nolan.\n> — films.pdf, page 2 [2]"},
			[]string{"Third", "Fourth", "docs/"},
		},
		{
			"the section that has the answer, below its heading", chat(`{"role":"user","content":"How long is the notice period?"},`+found("c", "docs", sections), searchTool("docs")),
			[]string{"This passage answers best:", "> After probation the notice period is three months.\n> — handbook.md › Notice [1]"},
			[]string{"front desk", "consent", "Other"},
		},
		{
			"all records that have the same, and no others", chat(question+","+found("c", "films", films), searchTool("films")),
			[]string{"These 3 answer:\n\n- Insomnia [1]: director: Christopher Nolan\n- Memento [2]: director: Christopher Nolan\n- Tenet [3]: director: Christopher Nolan\n"},
			[]string{"Jaws"},
		},
		{
			"what no passage has is named", chat(`{"role":"user","content":"What does the sauna of the handbook cost?"},`+found("c", "docs", strings.Replace(sections, "0.9", "0.5", 1)), searchTool("docs")),
			[]string{"No passage has “sauna”, “cost”. The nearest:", "> "},
			[]string{"answers best"},
		},
		{
			"a row with the head of its table", chat(`{"role":"user","content":"What is the price of P-0421?"},`+found("c", "docs", table), searchTool("docs")),
			[]string{"> | part | price |\n> |---|---|\n", "> | P-0421 | 12.50 |"},
			[]string{"P-0400"},
		},
		{
			"code as a whole", chat(`{"role":"user","content":"How do I set max_connections?"},`+found("c", "docs", coded), searchTool("docs")),
			[]string{"```\n> [server]\n", "max_connections = 5", "```\n> — server.md [1]"},
			nil,
		},
		{
			"passages with little of the question", chat(question+","+found("c", "docs", passages(0.2)), searchTool("docs")),
			[]string{"found nothing that answers this"},
			[]string{"> Nolan", "> **", "Guide", "docs/"},
		},
		{"a greeting", chat(`{"role":"user","content":"Hello there!"}`, searchTool("movies")), []string{"Hello. Ask me something"}, []string{"[movies/"}},
		{"thanks", chat(`{"role":"user","content":"Thanks a lot for your help!"}`, searchTool("movies")), []string{"Hello. Ask me something"}, []string{"[movies/"}},
		{
			"nothing found", chat(question+","+found("c", "movies", `{"indexUid":"movies","hits":[]}`), searchTool("movies")),
			[]string{"I searched movies for “Which films did Christopher Nolan direct?” and found nothing", "Quoted by extract"},
			[]string{"> "},
		},
		{
			"a search that failed", chat(question+","+found("c", "movies", `{"error":"the index is gone"}`), searchTool("movies")),
			[]string{"found nothing", "The search of movies failed: the index is gone"},
			nil,
		},
		{
			"an answer that is not JSON", chat(question+","+found("c", "movies", `oops`), searchTool("movies")),
			[]string{"The search of movies failed"},
			nil,
		},
		{
			"a client's tool has answered, too", chat(question+`,{"role":"assistant","tool_calls":[{"id":"w","type":"function","function":{"name":"getWeather","arguments":"{}"}}]},{"role":"tool","tool_call_id":"w","content":"{\"hits\":[{\"id\":\"x\",\"text\":\"rain\"}]}"},`+found("c", "movies", string(content)), searchTool("movies")),
			[]string{"[movies/7]"},
			[]string{"rain"},
		},
		{"no tool", chat(question, ""), []string{"no index to search", "Quoted by extract"}, nil},
		{"no index in the tool", chat(question, searchTool()), []string{"no index to search"}, nil},
		{"choice none", chat(question, searchTool("movies"), `,"tool_choice":"none"`), []string{"no index to search"}, nil},
		{"no question", chat(`{"role":"system","content":"Be kind."}`, searchTool("movies")), []string{"no question"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := ask(t, tt.chat)
			rest := s.Text
			for _, part := range tt.want {
				i := strings.Index(rest, part)
				if i < 0 {
					t.Fatalf("no %q, in this order, in:\n%s", part, s.Text)
				}
				rest = rest[i+len(part):]
			}
			for _, part := range tt.without {
				if strings.Contains(s.Text, part) {
					t.Errorf("%q in:\n%s", part, s.Text)
				}
			}
			if *s.FinishReason != "stop" || len(s.ToolCalls) > 0 || !strings.Contains(s.Text, "\n\n") {
				t.Errorf("finish %q, %d calls, text %q; want stop, none, several paragraphs", *s.FinishReason, len(s.ToolCalls), s.Text)
			}
		})
	}
}

func FuzzEncode(f *testing.F) {
	f.Add(chat(question, searchTool("movies")))
	f.Add(chat(question+","+found("c", "movies", `{"hits":[{"id":1,"text":"ÀÉ"}]}`), searchTool("movies")))
	f.Fuzz(func(t *testing.T, chat string) {
		d := plugintest.New(extract{})
		if !json.Valid([]byte(chat)) {
			return
		}
		r, err := d.Encode(abi.EncodeRequest{Chat: abi.RawJSON(chat)})
		if err != nil {
			return
		}
		s := d.Stream()
		if err := s.Decode(abi.FlagLast, abi.Event{Data: []byte(*r.Reply)}); err != nil {
			t.Fatal(err)
		}
		if s.FinishReason == nil || len(s.Broken) > 0 {
			t.Errorf("finish %v, broken %v", s.FinishReason, s.Broken)
		}
	})
}

func TestWithoutGreeting(t *testing.T) {
	for text, want := range map[string]string{
		"Hi, who directed Stalker?":       "who directed Stalker?",
		"Good morning!\nWho are you?":     "Who are you?",
		"Vielen Dank. Wer bist du?":       "Wer bist du?",
		"Hello!":                          "Hello!",
		"Hello Dolly, who wrote it?":      "Hello Dolly, who wrote it?",
		"Who directed Stalker, and when?": "Who directed Stalker, and when?",
	} {
		if got := withoutGreeting(text); got != want {
			t.Errorf("withoutGreeting(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestRefused: what no quoting of passages can do is refused by its name.
func TestRefused(t *testing.T) {
	for more, want := range map[string]string{
		`,"response_format":{"type":"json_object"}`:                                       "`response_format`",
		`,"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`:           "`response_format`",
		`,"tool_choice":{"type":"function","function":{"name":"getWeather"}}`:             "`tool_choice`",
		`,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required"`: "`tool_choice`",
	} {
		_, err := plugintest.New(extract{}).Encode(abi.EncodeRequest{Chat: abi.RawJSON(`{"messages":[{"role":"user","content":"q"}]` + more + `}`)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with %s: %v, want an error that names %s", more, err, want)
		}
	}
}

func TestAskedText(t *testing.T) {
	for text, want := range map[string]string{
		"Who directed Stalker?":                                                          "Who directed Stalker?",
		"Who directed Stalker? Reply in English.":                                        "Who directed Stalker?",
		"Who directed Stalker? Please answer in one sentence. Do not guess.":             "Who directed Stalker?",
		"Answer the phone, who does?":                                                    "Answer the phone, who does?",
		"Write a list of films.":                                                         "Write a list of films.",
		"<system-reminder>\nToday is Friday.\n</system-reminder>\nWho directed Stalker?": "Who directed Stalker?",
		"<environment_context>\n<cwd>/x</cwd>\n</environment_context>":                   "<environment_context>\n<cwd>/x</cwd>\n</environment_context>",
		"[[ ## context ## ]]\nx\n\n[[ ## question ## ]]\nWho directed Stalker?\n\nRespond with the field [[ ## answer ## ]].":             "Who directed Stalker?",
		"\nCurrent Task: Who directed Stalker?\n\nThis is the expected criteria for your final answer: a name\nBegin! This is important.": "Who directed Stalker?",
		"Use the following context to answer.\n\nContext: x y z\n\nQuestion: Who directed Stalker?\nAnswer:":                              "Who directed Stalker?",
		"Question: what does it mean":      "Question: what does it mean",
		"New task:\nWho directed Stalker?": "Who directed Stalker?",
		"Answer with the context.\nQuestion: Who directed Stalker?\nContext: FAQ\nQuestion: What is it?\nAnswer:":                                          "Who directed Stalker?",
		"Answer the query.\nQuestion: Who directed Stalker?\nDocuments:\nQuery: x\nAnswer:":                                                                "Who directed Stalker?",
		"Context:\nQuestion: What is it?\n\nQuestion: Who directed Stalker?\nAnswer:":                                                                      "Who directed Stalker?",
		"Who directed Stalker\n\nContext information is below, surrounded by ---\n\n---\nx\n---\n\nReply to the comment.":                                  "Who directed Stalker",
		"Who directed Stalker?\n\nAnswer using the following information:\nx y":                                                                            "Who directed Stalker?",
		"Context information is below.\n---\nx\n---\nGiven it, answer the query.\nQuery: Who directed Stalker?\nAnswer: ":                                  "Who directed Stalker?",
		"### Task:\nRespond to the user query.\n\n### Output:\nBe clear.\n\n<context>\n<source id=\"1\">x</source>\n</context>\n\nthe director of Stalker": "the director of Stalker",
		"The original query is as follows: Who directed Stalker?\nWe have provided an existing answer: x\nContext:\ny":                                     "Who directed Stalker?",
		"# Rules\n<context>x</context>":                                     "# Rules",
		"Who directed Stalker?\n<system-reminder>\nx\n</system-reminder>\n": "Who directed Stalker?",
	} {
		if got := askedText(text); got != want {
			t.Errorf("askedText(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestSaysOnceWhoQuotes: the first answer of a conversation says that no model wrote it, and no other one does.
func TestSaysOnceWhoQuotes(t *testing.T) {
	first := ask(t, chat(`{"role":"user","content":"Hello"}`, searchTool("movies")))
	second := ask(t, chat(`{"role":"user","content":"Hello"},{"role":"assistant","content":"Hello."},{"role":"user","content":"Thanks"}`, searchTool("movies")))
	if !strings.Contains(first.Text, "Quoted by extract") || strings.Contains(second.Text, "Quoted by extract") || strings.ContainsAny(first.Text, "{}") {
		t.Errorf("first answer %q, second %q", first.Text, second.Text)
	}
}

// TestAbsentWords: a word that no hit has is named once, as it is first written.
func TestAbsentWords(t *testing.T) {
	results := []result{{coverage: 0.5, hits: []hit{{title: "House", text: "It has four beds."}}}}
	if got := absentWords("Sauna, sauna or pool with beds?", results); !slices.Equal(got, []string{"Sauna", "pool"}) {
		t.Errorf("absent: %q", got)
	}
}
