package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// MaxFacetTerm bounds the bytes of each half of a facet term.
const MaxFacetTerm = 400

// FacetTerm is a value of an attribute as folders keep it: its key, a zero byte,
// and the value as it was written, for showing.
func FacetTerm(value string) string {
	return FacetKey(value) + "\x00" + Clip(value, MaxFacetTerm)
}

// FacetKey is what a value is compared by: decomposed by compatibility, in lower
// case, and without space around it. Marks stay, so that "ano" is not "año":
// filters decide who sees a document and which one is deleted. Words are
// compared by [Fold], which takes more for the same.
func FacetKey(value string) string {
	value = strings.TrimSpace(value)
	for i := range len(value) {
		if value[i] >= utf8.RuneSelf {
			// A Caser has a state and is not for sharing.
			value = cases.Lower(language.Und).String(norm.NFKD.String(value))
			break
		}
	}
	return Clip(strings.ReplaceAll(strings.ToLower(value), "\x00", " "), MaxFacetTerm)
}
