package embed_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search/embed"
)

const (
	openAIRequest  = `{"model":"m","input":["{{text}}","{{..}}"],"n":1.50}`
	openAIResponse = `{"data":[{"embedding":"{{embedding}}"},"{{..}}"]}`
)

func TestShape(t *testing.T) {
	for _, tt := range []struct {
		name, request, response string
		texts                   []string
		body                    string // compared as JSON
		answer                  string
		want                    [][]float32
	}{
		{
			"OpenAI", openAIRequest, openAIResponse,
			[]string{`a "quoted" <text>`, "b"},
			`{"model":"m","input":["a \"quoted\" <text>","b"],"n":1.50}`,
			`{"object":"list","data":[{"index":0,"embedding":[1,0.5]},{"embedding":[0,-1e-3]}],"usage":{}}`,
			[][]float32{{1, 0.5}, {0, -1e-3}},
		},
		{
			"one text a request", `{"prompt":"{{text}}"}`, `{"embedding":"{{embedding}}"}`,
			[]string{"a"},
			`{"prompt":"a"}`, `{"embedding":[3]}`,
			[][]float32{{3}},
		},
		{
			"objects in an array", `{"requests":[{"content":{"parts":[{"text":"{{text}}"}]}},"{{..}}"]}`, `{"embeddings":[{"values":"{{embedding}}"},"{{..}}"]}`,
			[]string{"a", "b"},
			`{"requests":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"b"}]}}]}`,
			`{"embeddings":[{"values":[1]},{"values":[2]}]}`,
			[][]float32{{1}, {2}},
		},
		{
			"arrays alone", `["{{text}}","{{..}}"]`, `["{{embedding}}","{{..}}"]`,
			[]string{"a"},
			`["a"]`, `[[1,2]]`,
			[][]float32{{1, 2}},
		},
		{
			"a text alone", `"{{text}}"`, `[["x","{{embedding}}"]]`,
			[]string{"a"},
			`"a"`, `[["y",[4]]]`,
			[][]float32{{4}},
		},
		{
			"fragments", `{"inputs":[{"content":"{{fragment}}"},"{{..}}"]}`, openAIResponse,
			[]string{`[{"text":"a <b>"},{"n":1.50}]`, `"c"`},
			`{"inputs":[{"content":[{"text":"a <b>"},{"n":1.50}]},{"content":"c"}]}`,
			`{"data":[{"embedding":[1]},{"embedding":[2]}]}`,
			[][]float32{{1}, {2}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := embed.ParseShape([]byte(tt.request), []byte(tt.response))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // a shape is not used up
				body, err := s.Body(tt.texts)
				if err != nil {
					t.Fatal(err)
				}
				var got, want any
				if json.Unmarshal(body, &got) != nil || json.Unmarshal([]byte(tt.body), &want) != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("Body = %s, want %s", body, tt.body)
				}
			}
			if vs, err := s.Vectors([]byte(tt.answer), len(tt.texts)); err != nil || !reflect.DeepEqual(vs, tt.want) {
				t.Errorf("Vectors = %v, %v; want %v", vs, err, tt.want)
			}
		})
	}
}

func TestShapeKeepsNumbers(t *testing.T) {
	s, err := embed.ParseShape([]byte(openAIRequest), []byte(openAIResponse))
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := s.Body([]string{"a"}); !strings.Contains(string(body), "1.50") {
		t.Errorf("Body = %s, want 1.50 as it was written", body)
	}
}

func TestShapeMistakes(t *testing.T) {
	for _, tt := range []struct{ name, request, response, want string }{
		{"no text", `{}`, openAIResponse, "the request must have"},
		{"two texts", `["{{text}}","{{text}}"]`, openAIResponse, "2 times"},
		{"no embedding", openAIRequest, `{}`, "the response must have"},
		{"more than one place that repeats", `{"a":["{{text}}","{{..}}"],"b":["x","{{..}}"]}`, openAIResponse, "repeat"},
		{"repeats what has no text", `{"a":["x","{{..}}"],"b":"{{text}}"}`, openAIResponse, "{{..}}"},
		{"repeats in the middle", `["{{text}}","{{..}}","x"]`, openAIResponse, "no array repeats"},
		{"repeats alone", `{"a":"{{..}}","b":"{{text}}"}`, openAIResponse, "no array repeats"},
		{"only the request repeats", openAIRequest, `{"e":"{{embedding}}"}`, "both"},
		{"only the response repeats", `{"t":"{{text}}"}`, openAIResponse, "both"},
		{"not JSON", `{`, openAIResponse, "not JSON"},
	} {
		if _, err := embed.ParseShape([]byte(tt.request), []byte(tt.response)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: ParseShape = %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestAnswerMistakes(t *testing.T) {
	s, err := embed.ParseShape([]byte(openAIRequest), []byte(openAIResponse))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, answer, want string }{
		{"nothing", ``, "has nothing at `data`"},
		{"HTML", `<html>secret</html>`, "has nothing at `data`"},
		{"no array", `{"data":{"secret":1}}`, "no array at `data`"},
		{"too few", `{"data":[{"embedding":[1]}]}`, "1 vectors for 2 texts"},
		{"no member", `{"data":[{"embedding":[1]},{"secret":[1]}]}`, "has nothing at `embedding`"},
		{"text", `{"data":[{"embedding":"secret"},{"embedding":[1]}]}`, "something else"},
		{"empty", `{"data":[{"embedding":[]},{"embedding":[]}]}`, "without numbers"},
		{"unequal", `{"data":[{"embedding":[1,2]},{"embedding":[1]}]}`, "of 2 and of 1"},
		{"huge", `{"data":[{"embedding":[1e39]},{"embedding":[1]}]}`, "beyond 32 bits"},
		{"null", `{"data":[{"embedding":null},{"embedding":[1]}]}`, "without numbers"},
	} {
		_, err := s.Vectors([]byte(tt.answer), 2)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: Vectors = %v, want %q and nothing of the answer", tt.name, err, tt.want)
		}
	}
}
