package text

import (
	"slices"
	"strings"
	"unicode"

	"github.com/parley-search/parley/host/internal/search/attribute"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// An Alphabet is a way of telling letters apart that some languages share. Most
// languages are searched in the common one: without case, accents and width, so
// that "Malmo" finds Malmö. Where an alphabet has å as a letter of its own, its
// readers take "ar" and "år" for two words.
type Alphabet uint8

const (
	Common    Alphabet = iota
	swedish            // and Finnish: å ä ö are letters
	danish             // and Norwegian: æ ø å are
	turkish            // and Azerbaijani: I is the capital of ı, İ of i
	japanese           // が is not か
	alphabets          // how many there are
)

// alphabetOf returns the alphabet of a language, by its code of ISO 639.
func alphabetOf(code string) Alphabet {
	base, err := language.ParseBase(code)
	if err != nil {
		return Common
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
	return Common
}

// fold returns s as it is compared in t.
func (t Alphabet) fold(s string) string {
	if t == Common {
		return Fold(s)
	}
	var b strings.Builder
	for _, r := range norm.NFKC.String(s) {
		if letter := t.letter(r); letter != 0 {
			b.WriteRune(letter)
		} else {
			b.WriteString(Fold(string(r)))
		}
	}
	return b.String()
}

// letter returns the small letter that r is in t, 0 where it is none but that of
// most languages.
func (t Alphabet) letter(r rune) rune {
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

// An AlphabetSet has a bit for each alphabet.
type AlphabetSet uint8

const AllAlphabets AlphabetSet = 1<<alphabets - 1

func (s AlphabetSet) has(t Alphabet) bool { return s>>t&1 == 1 }

// AlphabetsOf returns those of languages.
func AlphabetsOf(codes []string) (s AlphabetSet) {
	for _, c := range codes {
		s |= 1 << alphabetOf(c)
	}
	return s
}

// A Localization says in which alphabets attributes are read. nil: all in the common
// one. Of several rules the first one that covers an attribute counts.
type Localization []AlphabetRule

type AlphabetRule struct {
	Patterns  []string
	Alphabets AlphabetSet `json:"Tongues"` // as the schemas of folders have it
}

// Alphabets returns the alphabets of an attribute.
func (l Localization) Alphabets(path string) AlphabetSet {
	for _, r := range l {
		if slices.ContainsFunc(r.Patterns, func(p string) bool { return attribute.MatchPattern(p, path) }) {
			return r.Alphabets
		}
	}
	return 1 << Common
}

// Asked returns the alphabets in which a query in some languages is held against
// an attribute: those of both, or else all of the attribute's.
func (l Localization) Asked(path string, locales AlphabetSet) AlphabetSet {
	in := l.Alphabets(path)
	if in&locales != 0 {
		return in & locales
	}
	return in
}

// all are the alphabets that any attribute may be in.
func (l Localization) all() AlphabetSet {
	in := AlphabetSet(1 << Common)
	for _, r := range l {
		in |= r.Alphabets
	}
	return in
}

// A Form is how a word, or several, are written in some alphabets.
type Form struct {
	Term string
	In   AlphabetSet
}

// forms returns how the alphabets of a write a text, nil where all write it as
// the common one does, which is given.
func (a *Analyzer) forms(text, folded string) []Form {
	if a == nil || a.alphabets == 0 {
		return nil
	}
	out := []Form{{folded, 1 << Common}}
	for t := Common + 1; t < alphabets; t++ {
		if a.alphabets.has(t) {
			out = addForm(out, Clip(t.fold(text), MaxWord), 1<<t)
		}
	}
	if len(out) == 1 {
		return nil
	}
	return out
}

func addForm(forms []Form, term string, in AlphabetSet) []Form {
	for i := range forms {
		if forms[i].Term == term {
			forms[i].In |= in
			return forms
		}
	}
	return append(forms, Form{term, in})
}

// Spellings returns the forms of a word.
func (w *Word) Spellings() []Form {
	if w.Forms == nil {
		return []Form{{w.Term, AllAlphabets}}
	}
	return w.Forms
}

// in returns the word as an alphabet writes it.
func (w *Word) in(t Alphabet) string {
	for _, f := range w.Forms {
		if f.In.has(t) {
			return f.Term
		}
	}
	return w.Term
}

// JoinForms returns the forms of words that are written with sep between.
func JoinForms(ws []Word, sep string) []Form {
	one := func(t Alphabet) string {
		terms := make([]string, len(ws))
		for i := range ws {
			terms[i] = ws[i].in(t)
		}
		return strings.Join(terms, sep)
	}
	if !slices.ContainsFunc(ws, func(w Word) bool { return w.Forms != nil }) {
		return []Form{{one(Common), AllAlphabets}}
	}
	var out []Form
	for t := range alphabets {
		out = addForm(out, one(t), 1<<t)
	}
	return out
}
