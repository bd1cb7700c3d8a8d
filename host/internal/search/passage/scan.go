package passage

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A spelling is a term with what the spelling counts as.
type spelling struct {
	term   int
	counts float32
}

// A scanner counts the question's words in texts. Texts are long and words of the question rare, so that
// it makes no string of a word that is ASCII.
type scanner struct {
	q         *Question
	spellings map[string][]spelling
	length    int // words of the text counted last
	word      []byte
	pieces    bool // the question has words of scripts without spaces between them
	digits    bool // it has numbers
}

func newScanner(q *Question) *scanner {
	s := &scanner{q: q, spellings: map[string][]spelling{}}
	for t := range q.Terms {
		for form, counts := range q.Terms[t].Forms {
			s.spellings[form] = append(s.spellings[form], spelling{t, counts})
			s.digits = s.digits || form != "" && isDigit(form[0])
			r, _ := utf8.DecodeRuneInString(form)
			s.pieces = s.pieces || unicode.In(r, running...) || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		}
	}
	return s
}

// count adds the words of text to counts, one for each term, and returns how many words text has.
func (s *scanner) count(counts []float32, text string) (length int) {
	s.length = 0
	name, next := 0, -1 // where the name begins that the word is of, and where it goes on
	number := 0         // where the number ends that was counted last
	for i := 0; i < len(text); {
		start, ascii := i, true
		for i < len(text) && (isWord(text[i]) || text[i] >= utf8.RuneSelf) {
			ascii = ascii && text[i] < utf8.RuneSelf
			i++
		}
		switch {
		case i == start:
			i++
			continue
		case ascii:
			s.add(counts, text[start:i])
		default:
			last := ""
			for _, w := range s.q.Words(text[start:i]) {
				s.length++
				s.addWord(counts, []byte(w))
				if s.pieces {
					s.addPieces(counts, last, w)
					last = w
				}
			}
		}
		if s.digits && isDigit(text[start]) && start >= number {
			n, plain := Number(text[start:])
			if number = start + n; plain != "" && plain != text[start:number] {
				s.addWord(counts, []byte(plain))
			}
		}
		if start != next {
			name = start
		}
		if joined(text, i) {
			next = i + 1
		} else if name < start {
			s.addName(counts, text[name:i])
		}
	}
	return s.length
}

// joints are what the words of a name are joined with, as in P-0421, max_connections and 4.2.1.
const joints = "-_."

// joined reports whether the word of text that ends at i goes on behind a joint.
func joined(text string, i int) bool {
	return i+1 < len(text) && strings.IndexByte(joints, text[i]) >= 0 && (isWord(text[i+1]) || text[i+1] >= utf8.RuneSelf)
}

// EachName calls f with the names of text that are words with joints between them, in lower case.
func EachName(text string, f func(name string)) {
	for i := 0; i < len(text); {
		start, words := i, 0
		for i < len(text) && (isWord(text[i]) || text[i] >= utf8.RuneSelf) {
			for i < len(text) && (isWord(text[i]) || text[i] >= utf8.RuneSelf) {
				i++
			}
			if words++; joined(text, i) {
				i++
			}
		}
		if words > 1 {
			f(strings.ToLower(text[start:i]))
		}
		if i == start {
			i++
		}
	}
}

// addName counts a name, whose ASCII letters may be written in either case, and what is written with hyphens as
// what is written without: "e-mail" is "email".
func (s *scanner) addName(counts []float32, text string) {
	s.word = s.word[:0]
	for i := range len(text) {
		s.word = append(s.word, lower(text[i]))
	}
	s.addWord(counts, s.word)
	if joined := slices.DeleteFunc(s.word, func(c byte) bool { return c == '-' }); len(joined) < len(text) {
		s.addWord(counts, joined)
	}
}

// addPieces counts what of a word, and of the one before it, stands for words in scripts without spaces between
// them.
func (s *scanner) addPieces(counts []float32, last, word string) {
	if pair, ok := Pair(last, word); ok {
		s.addWord(counts, []byte(pair))
	}
	for _, g := range Grams(word) {
		if g != word {
			s.addWord(counts, []byte(g))
		}
	}
}

// add counts one run of ASCII letters and digits: as it is written and, where it is written in camel
// case, its parts.
func (s *scanner) add(counts []float32, text string) {
	s.length++
	s.word = s.word[:0]
	for i := range len(text) {
		s.word = append(s.word, lower(text[i]))
	}
	s.addWord(counts, s.word)
	from := 0
	for i := 1; i < len(text); i++ {
		if isUpper(text[i]) && !isUpper(text[i-1]) {
			s.addWord(counts, s.word[from:i])
			from = i
		}
	}
	if from > 0 {
		s.addWord(counts, s.word[from:])
	}
}

func (s *scanner) addWord(counts []float32, word []byte) {
	for _, x := range s.spellings[string(word)] {
		counts[x.term] += x.counts
	}
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func lower(c byte) byte {
	if isUpper(c) {
		c += 'a' - 'A'
	}
	return c
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
