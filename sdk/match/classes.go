package match

import (
	"errors"
	"slices"
	"unicode/utf8"
)

// classify parts the runes into classes: those of one are in the same sets, and of words
// or not.
func (m *Matcher) classify() error {
	m.bounds = append(m.bounds, 0)
	for _, s := range slices.Concat(append(m.sets, wordSpans)...) {
		m.bounds = append(m.bounds, s.low, s.high+1)
	}
	slices.Sort(m.bounds)
	m.bounds = slices.Compact(m.bounds)
	byName := map[string]int{}
	for _, r := range m.bounds {
		name := []byte{0}
		if isWord(r) {
			name[0] = 1
		}
		for i, set := range m.sets {
			if contains(set, r) {
				name = append(name, byte(i), byte(i>>8))
			}
		}
		class, ok := byName[string(name)]
		if !ok {
			class = len(byName)
			byName[string(name)] = class
			m.word = append(m.word, name[0] == 1)
			m.sample = append(m.sample, r)
		}
		if class > maxClasses {
			return errors.New("the patterns have too many different characters and classes")
		}
		m.classes = append(m.classes, uint8(class))
	}
	for r := range rune(utf8.RuneSelf) {
		m.ascii[r] = m.classOf(r)
	}
	m.word = append(m.word, false) // the end of the text
	return nil
}

func (m *Matcher) classOf(r rune) uint8 {
	i, found := slices.BinarySearch(m.bounds, r)
	if !found {
		i--
	}
	return m.classes[i]
}

func contains(set []span, r rune) bool {
	for _, s := range set {
		if r >= s.low && r <= s.high {
			return true
		}
	}
	return false
}

// wordSpans are letters, digits and _ of scripts that part words by spaces.
var wordSpans = []span{
	{'0', '9'},
	{'A', 'Z'},
	{'_', '_'},
	{'a', 'z'},
	{0xAA, 0xAA},
	{0xB5, 0xB5},
	{0xBA, 0xBA},
	{0xC0, 0xD6},
	{0xD8, 0xF6},
	{0xF8, 0x2FF},
	{0x300, 0x37D},
	{0x37F, 0x386},
	{0x388, 0x588},
	{0x591, 0x5BD},
	{0x5C1, 0x5F2},
	{0x610, 0x61A},
	{0x620, 0x669},
	{0x66E, 0x6D3},
	{0x6D5, 0x6FF},
	{0x710, 0x963},
	{0x966, 0xE4E},
	{0xE50, 0x103F},
	{0x10A0, 0x135F},
	{0x1369, 0x166C},
	{0x1680, 0x1FFF},
	{0x2C00, 0x2DFF},
	{0xA640, 0xA69F},
	{0xA720, 0xA7FF},
}

func isWord(r rune) bool { return contains(wordSpans, r) }

// EndsInWord reports whether the last rune of text is of a word; where text is empty,
// what before says.
func EndsInWord(text []byte, before bool) bool {
	if len(text) == 0 {
		return before
	}
	r, _ := utf8.DecodeLastRune(text)
	return isWord(r)
}

// classAt returns the class of the rune at text[at:] and its size; 0 where the rune is
// cut off and more text follows.
func (m *Matcher) classAt(text []byte, at int, last bool) (class, size int) {
	if c := text[at]; c < utf8.RuneSelf {
		return int(m.ascii[c]), 1
	}
	if !last && !utf8.FullRune(text[at:]) {
		return 0, 0
	}
	r, size := utf8.DecodeRune(text[at:])
	return int(m.classOf(r)), size
}
