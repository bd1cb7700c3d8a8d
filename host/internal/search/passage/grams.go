package passage

import (
	"unicode"
	"unicode/utf8"
)

// gramSize is how many letters the pieces have that words of some scripts are compared by.
const gramSize = 3

// running are the scripts that put no space between words, and of which a whole phrase counts as one.
var running = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// Grams returns the overlapping pieces of a word of a script that puts no space between words; nil for others.
func Grams(word string) (list []string) {
	if first, _ := utf8.DecodeRuneInString(word); !unicode.In(first, running...) {
		return nil
	}
	letters := []rune(word)
	for i := 0; i == 0 || i+gramSize <= len(letters); i++ {
		list = append(list, string(letters[i:min(i+gramSize, len(letters))]))
	}
	return list
}

// Pair returns two words as one where each is one character of a script in which words have several and no space
// between them, as in Chinese.
func Pair(first, second string) (pair string, ok bool) {
	if !isCharacter(first) || !isCharacter(second) {
		return "", false
	}
	return first + second, true
}

func isCharacter(word string) bool {
	r, n := utf8.DecodeRuneInString(word)
	return n > 2 && n == len(word) && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
