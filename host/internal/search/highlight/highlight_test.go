package highlight

import (
	"errors"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search/settings"
)

// TestCrops reads attributes to crop with their lengths.
func TestCrops(t *testing.T) {
	five := 5
	for _, tt := range []struct {
		crop []string
		want []Crop
	}{
		{[]string{"text:20", "title"}, []Crop{{"text", 20}, {"title", five}}},
		{[]string{"a:b:3"}, []Crop{{"a:b", 3}}},
		{[]string{"text:0"}, []Crop{{"text", 0}}},
		{[]string{"text:-1"}, nil},
		{[]string{"text:"}, nil},
		{[]string{":3"}, nil},
		{[]string{"text:99999999999"}, nil},
	} {
		got, err := (&Format{Crop: tt.crop, CropLength: &five}).Crops()
		if (err != nil) != (tt.want == nil) || len(got) != len(tt.want) {
			t.Errorf("%q: %v, %v, want %v", tt.crop, got, err, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%q: %v, want %v", tt.crop, got, tt.want)
			}
		}
	}
}

// format shows doc as q asks, with the words of phrase found.
func format(t *testing.T, q Format, doc, phrase string, take func(int) error) (formatted, matches string, err error) {
	t.Helper()
	s := settings.DefaultSettings()
	crops, err := q.Crops()
	if err != nil {
		t.Fatal(err)
	}
	f := NewFormatter(&q, crops, nil, nil, func(string) bool { return true }, func() *Marker {
		m := NewMarker(&s, nil)
		words := s.Analyzer().Split(phrase)
		m.AddPhrase(0, len(words), words)
		return m
	}, take)
	a, b, err := f.Show([]byte(doc))
	return string(a), string(b), err
}

func free(int) error { return nil }

// TestShow marks and crops what was found, and nothing else.
func TestShow(t *testing.T) {
	for _, tt := range []struct {
		name, doc, phrase, want string
		q                       Format
	}{
		{"all", `{"t":"the red car","n":{"u":"Red car!"}}`, "red car", `{"t":"the <em>red car</em>","n":{"u":"<em>Red car</em>!"}}`, Format{Highlight: []string{"*"}}},
		{"one attribute", `{"t":"red car","u":"red car"}`, "red car", `{"t":"red car","u":"<em>red car</em>"}`, Format{Highlight: []string{"u"}}},
		{"not side by side", `{"t":"red old car"}`, "red car", `{"t":"red old car"}`, Format{Highlight: []string{"*"}}},
		{"a number becomes a text", `{"n":3}`, "x", `{"n":"3"}`, Format{Highlight: []string{"*"}}},
		{"crop", `{"t":"one two three red car four five six"}`, "red car", `{"t":"…three red car…"}`, Format{Crop: []string{"t:3"}}},
		{"short enough", `{"t":"red car"}`, "red car", `{"t":"red car"}`, Format{Crop: []string{"t:3"}}},
		{"marks that are JSON", `{"t":"red"}`, "red", `{"t":"\"red\\"}`, Format{Highlight: []string{"t"}, PreTag: new(`"`), PostTag: new(`\`)}},
	} {
		got, _, err := format(t, tt.q, tt.doc, tt.phrase, free)
		if err != nil || got != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
	if _, got, err := format(t, Format{Positions: true}, `{"t":"a red car","l":["x","red car"]}`, "red car", free); err != nil || !strings.Contains(got, `"t":[{"start":2,"length":7}]`) || !strings.Contains(got, `"indices":[1]`) {
		t.Errorf("the places are %s, %v, want bytes 2 to 9 of t, and the second of l", got, err)
	}
	if a, b, err := format(t, Format{}, `{"t":"red"}`, "red", free); a+b != "" || err != nil {
		t.Errorf("asked for nothing: %s, %s, %v", a, b, err)
	}
}

// TestShowAsksForBytes gives up where the bytes of what is shown are refused.
func TestShowAsksForBytes(t *testing.T) {
	refused, asked := errors.New("refused"), 0
	doc := `{"t":"` + strings.Repeat("red ", 50_000) + `"}`
	_, _, err := format(t, Format{Highlight: []string{"*"}}, doc, "red", func(n int) error { asked += n; return refused })
	if !errors.Is(err, refused) || asked == 0 || asked > len(doc) {
		t.Errorf("asked for %d of over %d bytes: %v, want it to stop at the first refusal", asked, len(doc), err)
	}
}
