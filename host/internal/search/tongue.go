package search

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// A tongue is a way of telling letters apart that some languages share. Most
// languages are searched in the common one: without case, accents and width, so
// that "Malmo" finds Malmö. Where an alphabet has å as a letter of its own, its
// readers take "ar" and "år" for two words.
type tongue uint8

const (
	common   tongue = iota
	swedish         // and Finnish: å ä ö are letters
	danish          // and Norwegian: æ ø å are
	turkish         // and Azerbaijani: I is the capital of ı, İ of i
	japanese        // が is not か
	tongues         // how many there are
)

// tongueOf returns the tongue of a language, by its code of ISO 639.
func tongueOf(code string) tongue {
	base, err := language.ParseBase(code)
	if err != nil {
		return common
	}
	switch base.ISO3() {
	case "swe", "fin":
		return swedish
	case "dan", "nor", "nob", "nno":
		return danish
	case "tur", "aze", "azj", "azb":
		return turkish
	case "jpn":
		return japanese
	}
	return common
}

// fold returns s as it is compared in t.
func (t tongue) fold(s string) string {
	if t == common {
		return fold(s)
	}
	var b strings.Builder
	for _, r := range norm.NFKC.String(s) {
		if letter := t.letter(r); letter != 0 {
			b.WriteRune(letter)
		} else {
			b.WriteString(fold(string(r)))
		}
	}
	return b.String()
}

// letter returns the small letter that r is in t, 0 where it is none but that of
// most languages.
func (t tongue) letter(r rune) rune {
	own := ""
	switch t {
	case swedish:
		own = "åäö"
	case danish:
		own = "æøå"
	case turkish:
		switch r {
		case 'I', 'ı':
			return 'ı'
		case 'İ':
			return 'i'
		}
	case japanese:
		if unicode.In(r, unicode.Hiragana, unicode.Katakana) {
			return r
		}
	}
	if small := unicode.ToLower(r); strings.ContainsRune(own, small) {
		return small
	}
	return 0
}

// A tongueSet has a bit for each tongue.
type tongueSet uint8

const allTongues tongueSet = 1<<tongues - 1

func (s tongueSet) has(t tongue) bool { return s>>t&1 == 1 }

// tonguesOf returns those of languages.
func tonguesOf(codes []string) (s tongueSet) {
	for _, c := range codes {
		s |= 1 << tongueOf(c)
	}
	return s
}

// A localization says in which tongues attributes are read. nil: all in the common
// one. Of several rules the first one that covers an attribute counts.
type localization []tongueRule

type tongueRule struct {
	Patterns []string
	Tongues  tongueSet
}

// localization returns nil where the languages of s change nothing.
func (s *Settings) localization() localization {
	var l localization
	var all tongueSet
	for _, r := range s.LocalizedAttributes {
		in := tonguesOf(r.Locales)
		if in == 0 { // of no language: of any
			in = 1 << common
		}
		l, all = append(l, tongueRule{r.Patterns, in}), all|in
	}
	if all&^(1<<common) == 0 {
		return nil
	}
	return l
}

// of returns the tongues of an attribute.
func (l localization) of(path string) tongueSet {
	for _, r := range l {
		if slices.ContainsFunc(r.Patterns, func(p string) bool { return matchesPattern(p, path) }) {
			return r.Tongues
		}
	}
	return 1 << common
}

// asked returns the tongues in which a query in some languages is held against
// an attribute: those of both, or else all of the attribute's.
func (l localization) asked(path string, locales tongueSet) tongueSet {
	in := l.of(path)
	if in&locales != 0 {
		return in & locales
	}
	return in
}

// all are the tongues that any attribute may be in.
func (l localization) all() tongueSet {
	in := tongueSet(1 << common)
	for _, r := range l {
		in |= r.Tongues
	}
	return in
}

// A form is how a word, or several, are written in some tongues.
type form struct {
	term string
	in   tongueSet
}

// forms returns how the tongues of a write a text, nil where all write it as
// the common one does, which is given.
func (a *analyzer) forms(text, folded string) []form {
	if a == nil || a.tongues == 0 {
		return nil
	}
	out := []form{{folded, 1 << common}}
	for t := common + 1; t < tongues; t++ {
		if a.tongues.has(t) {
			out = addForm(out, clip(t.fold(text), maxWord), 1<<t)
		}
	}
	if len(out) == 1 {
		return nil
	}
	return out
}

func addForm(forms []form, term string, in tongueSet) []form {
	for i := range forms {
		if forms[i].term == term {
			forms[i].in |= in
			return forms
		}
	}
	return append(forms, form{term, in})
}

// spelled returns the forms of a word.
func (w *word) spelled() []form {
	if w.forms == nil {
		return []form{{w.term, allTongues}}
	}
	return w.forms
}

// in returns the word as a tongue writes it.
func (w *word) in(t tongue) string {
	for _, f := range w.forms {
		if f.in.has(t) {
			return f.term
		}
	}
	return w.term
}

// joined returns the forms of words that are written with sep between.
func joined(ws []word, sep string) []form {
	one := func(t tongue) string {
		terms := make([]string, len(ws))
		for i := range ws {
			terms[i] = ws[i].in(t)
		}
		return strings.Join(terms, sep)
	}
	if !slices.ContainsFunc(ws, func(w word) bool { return w.forms != nil }) {
		return []form{{one(common), allTongues}}
	}
	var out []form
	for t := range tongues {
		out = addForm(out, one(t), 1<<t)
	}
	return out
}
