package text

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestAskingWords(t *testing.T) {
	for question, want := range map[string]string{
		"How long does the dough rest?":        "en: does how long the",
		"How can I get a long table?":          "en: a can get how i",
		"Wie hoch ist die Kaution?":            "de: die hoch ist wie",
		"Quelle est la durée du bail ?":        "fr: du est la quelle",
		"¿Cuánto cuesta la cuota del gimnasio": "es: cuanto del la",
		"price table":                          ": ",
		"sync the cluster":                     ": the",
	} {
		lang, asking := AskingWords(SplitWords(question))
		if got := lang + ": " + strings.Join(slices.Sorted(maps.Keys(asking)), " "); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}
