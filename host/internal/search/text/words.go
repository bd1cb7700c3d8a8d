// Package text turns texts into words, and words into what they are compared by.
//
// [Analyzer.Split] splits a text, of a document or of a query, into [Word]s. A
// word is folded (case, accents and width are gone), in the common [Alphabet] and
// in those of the languages that an index names. [QueryParser] reads what people
// type: words, "phrases" and -excluded words. A [Matcher] of a word
// finds others within one or two typos.
//
// To change how texts become words, raise [AnalyzerVersion]: folders of another
// version are built anew. Nothing here knows of documents, settings or indexes.
package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// AnalyzerVersion is raised by any change to how text becomes words: folders
// built by another one are built anew.
const AnalyzerVersion = 6

// A Word is one word of a text.
type Word struct {
	Term       string // folded, in the common alphabet
	Forms      []Form // in others, too; nil: all write it so
	Start, End int    // bytes in the text
	Pos        int    // its place, counted from 1; see SentenceGap
	Stop       bool   // a stop word of the index: it takes a place, and is not looked for
}

// SentenceGap is the distance put between the words on both sides of a
// separator such as a full stop, and between the elements of an array: words
// that far apart count as not near at all.
const SentenceGap = 8

// MaxWord bounds the bytes of one word; the rest of a longer one is cut off.
const MaxWord = 128

// An Analyzer splits texts as the settings of an index say. nil, and one
// without lists, splits as most do. Never changed once made.
type Analyzer struct {
	separators lexicon     // part words although they are in words
	joiners    lexicon     // belong to words although they are not
	dictionary lexicon     // are one word each, in any case
	stop       []string    // words that are not looked for, see stopWord; sorted
	alphabets  AlphabetSet // besides the common one; 0: none
}

// NewAnalyzer returns nil where all lists are empty.
func NewAnalyzer(separators, joiners, dictionary, stop []string, l Localization) *Analyzer {
	if len(separators)+len(joiners)+len(dictionary)+len(stop)+len(l) == 0 {
		return nil
	}
	if slices.ContainsFunc(stop, func(w string) bool { return stopWord(w) != w }) || !slices.IsSorted(stop) {
		stop = slices.Clone(stop)
		for i, w := range stop {
			stop[i] = stopWord(w)
		}
		slices.Sort(stop)
	}
	itself := func(s string) string { return s }
	return &Analyzer{newLexicon(separators, itself), newLexicon(joiners, itself), newLexicon(dictionary, foldCase), stop, l.all() &^ (1 << Common)}
}

// SplitWords splits text as an index without settings of its own does.
func SplitWords(text string) []Word { return (*Analyzer)(nil).Split(text) }

// Split splits text at whatever is no letter, number, mark or sign of a word. In scripts that
// put no space between words each character is a word.
func (a *Analyzer) Split(text string) []Word { return a.split(text, false) }

// split is Split. every: as in queries of Meilisearch, each separator that parts sentences
// puts a distance, also before the first word.
func (a *Analyzer) split(text string, every bool) []Word {
	out := make([]Word, 0, len(text)/5+1) // words of most languages are longer
	pos := 0
	var script *unicode.RangeTable // of the last letter that has one
	for i := 0; i < len(text); {
		n, hard := a.separator(text[i:])
		switch {
		case every:
			pos += hard * (SentenceGap - 1)
		case hard > 0 && pos > 0:
			pos += SentenceGap - 1
		}
		if i += n; i == len(text) {
			break
		}
		n = a.wordLen(text[i:], &script)
		if t := Clip(Fold(text[i:i+n]), MaxWord); t != "" {
			pos++
			out = append(out, Word{Term: t, Forms: a.forms(text[i:i+n], t), Start: i, End: i + n, Pos: pos, Stop: a.stops(text[i : i+n])})
		}
		i += n
	}
	return out
}

// stops reports whether a word, as it is written, is a stop word.
func (a *Analyzer) stops(word string) bool {
	if a == nil || len(a.stop) == 0 {
		return false
	}
	_, found := slices.BinarySearch(a.stop, stopWord(word))
	return found
}

// stopWord is what stop words are compared by: as Meilisearch has it, "The" is
// another word than "the".
func stopWord(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return norm.NFKD.String(s)
		}
	}
	return s
}

// separator returns the length of what stands before the next word of s, and how much
// of it parts sentences, see [Separator].
func (a *Analyzer) separator(s string) (n, hard int) {
	for n < len(s) {
		if a != nil {
			if w := a.separators.prefixOf(s[n:]); w > 0 {
				n += w
				continue
			}
			if a.joiners.prefixOf(s[n:]) > 0 || a.dictionary.wordOf(s[n:]) > 0 {
				return n, hard
			}
		}
		r, _ := utf8.DecodeRuneInString(s[n:])
		if inWord(r) || isDots(r) {
			return n, hard
		}
		w, parts := Separator(s[n:])
		if n += w; parts {
			hard++
		}
	}
	return n, hard
}

// Separator returns the length of the separator that s, which is not empty,
// begins with, and whether it is hard: it parts sentences, or parts of one, so that
// the words on both sides are not near. Full stops and commas are so with a
// space behind them ("1.2" stays together).
func Separator(s string) (n int, hard bool) {
	r, n := utf8.DecodeRuneInString(s)
	switch r {
	case '.', ',':
		if strings.HasPrefix(s[n:], " ") {
			return n + 1, true
		}
		return n, false
	case ' ', '\t', '\n', '(', ')', '"', '\'', '-', ':', '/':
		return n, false
	case ';', '¡', '¿', '§', '¶', '※', '、', '､', '，', '．', '：', '；', '،', '؛', '՝', '՛':
		return n, true
	}
	return n, unicode.Is(unicode.Sentence_Terminal, r)
}

// wordLen returns the length of the word that s begins with. As in Meilisearch it ends
// before a letter of another script than the last one, of this word or one before: "2Ω"
// behind Latin letters is two words.
func (a *Analyzer) wordLen(s string, script **unicode.RangeTable) int {
	if a != nil {
		if n := a.dictionary.wordOf(s); n > 0 {
			return n
		}
	}
	n, last := 0, rune(0)
	for n < len(s) {
		if a != nil {
			if a.separators.prefixOf(s[n:]) > 0 {
				break
			}
			if w := a.joiners.prefixOf(s[n:]); w > 0 {
				n += w
				continue
			}
		}
		r, w := utf8.DecodeRuneInString(s[n:])
		if n == 0 && isDots(r) {
			return w
		}
		if !inWord(r) && !withinWord(last, r) || n > 0 && unspaced(r) {
			break
		}
		if own := scriptOf(r); own != nil && own != *script {
			if n > 0 && *script != nil {
				break
			}
			*script = own
		}
		n, last = n+w, r
		if unspaced(r) {
			break
		}
	}
	return n
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || isMark(r) || isSign(r)
}

// isSign reports whether r is a sign that words are written with, as in Meilisearch: $ < =
// > ^ | ~ € ° ™ → and emoji. + × ÷ and the operators of mathematics part words.
func isSign(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == '$' || '<' <= r && r <= '>' || r == '^' || r == '|' || r == '~'
	case r == utf8.RuneError, r == '±', r == '×', r == '÷', '−' <= r && r <= '⋿':
		return false
	}
	return unicode.In(r, unicode.So, unicode.Sc, unicode.Sm)
}

// isDots reports whether r is dots in one character, which are a word of their own, as
// in Meilisearch.
func isDots(r rune) bool { return r == '…' || r == '‥' }

func isMark(r rune) bool { return r >= firstMark && unicode.Is(unicode.M, r) }

// firstMark is the first of Unicode's combining marks.
const firstMark = 0x300

// What shows how letters are set, and is no letter itself.
const (
	softHyphen = '\u00ad'
	nonJoiner  = '\u200c'
	joiner     = '\u200d'
	tatweel    = '\u0640' // makes an Arabic word longer
)

// withinWord reports whether r goes on with a word although it is none of its
// letters. A joiner does behind a mark, as in the conjuncts of Indic scripts;
// elsewhere, as in Persian, it parts what others write with a space.
func withinWord(last, r rune) bool {
	return r == softHyphen && last != 0 || (r == joiner || r == nonJoiner) && isMark(last)
}

// isAccent reports whether r is a mark that words are compared without. In the
// scripts that are not listed, such as those of India, Thai and Khmer, marks
// write vowels: words differ by them.
func isAccent(r rune) bool {
	return isMark(r) && unicode.In(r, unicode.Inherited, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Cyrillic)
}

// scripts are those that words are parted by, the most frequent first.
var scripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Arabic, unicode.Hebrew, unicode.Hangul, unicode.Devanagari,
	unicode.Thai, unicode.Bengali, unicode.Tamil, unicode.Telugu, unicode.Georgian, unicode.Armenian, unicode.Gujarati,
	unicode.Gurmukhi, unicode.Kannada, unicode.Malayalam, unicode.Oriya, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Ethiopic,
}

// scriptOf returns the script of a letter; nil for what all scripts share, such as digits,
// and for those that put no space between words.
func scriptOf(r rune) *unicode.RangeTable {
	if r <= unicode.MaxLatin1 {
		if unicode.IsLetter(r) {
			return unicode.Latin
		}
		return nil
	}
	for _, t := range scripts {
		if unicode.Is(t, r) {
			return t
		}
	}
	return nil
}

// unspaced reports whether r belongs to a script without spaces between words.
func unspaced(r rune) bool {
	return r >= 0x3040 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// Fold returns s as it is compared: without case, accents and width.
func Fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return foldUnicode(s)
		}
	}
	return strings.ToLower(s)
}

func foldUnicode(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKD.String(s) {
		if isAccent(r) {
			continue
		}
		r = unicode.ToLower(r)
		switch r {
		case softHyphen, joiner, nonJoiner, tatweel:
		// Letters that Unicode does not take apart, as they are typed without.
		case 'ß':
			b.WriteString("ss")
		case 'æ':
			b.WriteString("ae")
		case 'œ':
			b.WriteString("oe")
		case 'ø':
			b.WriteByte('o')
		case 'ł':
			b.WriteByte('l')
		case 'đ', 'ð':
			b.WriteByte('d')
		case 'ı':
			b.WriteByte('i')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Clip returns at most n bytes of s, cut where a character ends.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// maxWhole bounds the bytes of a text that is kept whole.
const maxWhole = 100

// Whole is a text as words with spaces between; none where it is too long. See
// [WholeOf].
func (a *Analyzer) Whole(text string) []Form {
	if len(text) > maxWhole {
		return nil
	}
	return WholeOf(a.Split(text))
}

// WholeOf is Whole of a text's words. Of a stop word only its place is kept, and
// nothing at the end.
func WholeOf(ws []Word) []Form {
	for len(ws) > 0 && ws[len(ws)-1].Stop {
		ws = ws[:len(ws)-1]
	}
	if len(ws) == 0 {
		return nil
	}
	if slices.ContainsFunc(ws, func(w Word) bool { return w.Stop }) {
		ws = slices.Clone(ws)
		for i := range ws {
			if ws[i].Stop {
				ws[i] = Word{}
			}
		}
	}
	return JoinForms(ws, " ")
}

func JoinTerms(ws []Word) string {
	terms := make([]string, len(ws))
	for i, w := range ws {
		terms[i] = w.Term
	}
	return strings.Join(terms, " ")
}
