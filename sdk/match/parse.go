package match

import (
	"errors"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// A node is a part of a pattern. It has at most one of set, all and any; none of them
// matches the empty text.
type node struct {
	set      []span  // one of these runes
	all      []*node // these, one after the other
	any      []*node // one of these
	min, max int     // how often; max is at least 1
	index    int     // of set in the matcher, from 1 on; 0: not there yet
	assert   byte    // 'b': a border of a word, 'B': none
}

// A span is a range of runes, both ends included.
type span struct{ low, high rune }

// one returns a node that matches as often as n does when it stands once.
func one(n node) *node { n.min, n.max = 1, 1; return &n }

var (
	digits = []span{{'0', '9'}}
	spaces = []span{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}
	words  = []span{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	noLine = negate([]span{{'\n', '\n'}})
)

// maxRepeat bounds the numbers of {m,n}.
const maxRepeat = 1000

// A parser reads one pattern.
type parser struct {
	rest string
	fold bool // letters match in either case
	deep int
}

func parse(pattern string) (*node, error) {
	p := parser{rest: pattern}
	if !utf8.ValidString(pattern) {
		return nil, errors.New("is not UTF-8")
	}
	if len(p.rest) >= 4 && p.rest[:4] == "(?i)" {
		p.fold, p.rest = true, p.rest[4:]
	}
	n, err := p.alternatives()
	if err == nil && p.rest != "" {
		err = errors.New("has a ) too many")
	}
	return n, err
}

func (p *parser) alternatives() (*node, error) {
	if p.deep++; p.deep > 50 {
		return nil, errors.New("has too many groups within groups")
	}
	defer func() { p.deep-- }()
	var any []*node
	for {
		n, err := p.sequence()
		if err != nil {
			return nil, err
		}
		any = append(any, n)
		if p.rest == "" || p.rest[0] != '|' {
			return one(node{any: any}), nil
		}
		p.rest = p.rest[1:]
	}
}

func (p *parser) sequence() (*node, error) {
	var all []*node
	for p.rest != "" && p.rest[0] != '|' && p.rest[0] != ')' {
		n, err := p.atom()
		if err != nil {
			return nil, err
		}
		if err := p.repeat(n); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return one(node{all: all}), nil
}

func (p *parser) atom() (*node, error) {
	r, size := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[size:]
	switch r {
	case '(':
		if len(p.rest) >= 2 && p.rest[:2] == "?:" {
			p.rest = p.rest[2:]
		} else if len(p.rest) >= 1 && p.rest[0] == '?' {
			return nil, errors.New("has (? within it: groups are ( and (?:, and (?i) stands at its beginning")
		}
		n, err := p.alternatives()
		if err != nil {
			return nil, err
		}
		if p.rest == "" {
			return nil, errors.New("lacks a )")
		}
		p.rest = p.rest[1:]
		return n, nil
	case '[':
		return p.class()
	case '.':
		return one(node{set: noLine}), nil
	case '*', '+', '?', '{':
		return nil, errors.New("repeats nothing: write \\" + string(r) + " for the character itself")
	case '^', '$':
		return nil, errors.New("has " + string(r) + ": there is no beginning and no end in text that comes in pieces; write \\" + string(r) + " for the character itself, \\b for the border of a word")
	case '\\':
		if p.rest != "" && (p.rest[0] == 'b' || p.rest[0] == 'B') {
			n := one(node{assert: p.rest[0]})
			p.rest = p.rest[1:]
			return n, nil
		}
		set, err := p.escape()
		if err != nil {
			return nil, err
		}
		return one(node{set: p.folded(set)}), nil
	}
	return one(node{set: p.folded([]span{{r, r}})}), nil
}

// escape reads what stands behind a backslash.
func (p *parser) escape() ([]span, error) {
	r, size := utf8.DecodeRuneInString(p.rest)
	if size == 0 {
		return nil, errors.New("ends with a backslash")
	}
	p.rest = p.rest[size:]
	switch r {
	case 'd':
		return digits, nil
	case 'D':
		return negate(digits), nil
	case 's':
		return spaces, nil
	case 'S':
		return negate(spaces), nil
	case 'w':
		return words, nil
	case 'W':
		return negate(words), nil
	case 'n':
		r = '\n'
	case 'r':
		r = '\r'
	case 't':
		r = '\t'
	case 'x':
		end := 0
		for end < len(p.rest) && p.rest[end] != '}' {
			end++
		}
		if end == len(p.rest) || p.rest[0] != '{' {
			return nil, errors.New(`has \x without {: write \x{00A0}`)
		}
		n, err := strconv.ParseUint(p.rest[1:end], 16, 32)
		if err != nil || n > utf8.MaxRune {
			return nil, errors.New(`has \x` + p.rest[:end+1] + ", which is no character")
		}
		r, p.rest = rune(n), p.rest[end+1:]
	default:
		if r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return nil, errors.New(`has \` + string(r) + `, which is not known: there are \b \B \d \D \s \S \w \W \n \r \t \x{…}`)
		}
	}
	return []span{{r, r}}, nil
}

// class reads what stands behind a [.
func (p *parser) class() (*node, error) {
	var set []span
	not := false
	if p.rest != "" && p.rest[0] == '^' {
		not, p.rest = true, p.rest[1:]
	}
	for first := true; ; first = false {
		if p.rest == "" {
			return nil, errors.New("lacks a ]")
		}
		if p.rest[0] == ']' && !first {
			p.rest = p.rest[1:]
			break
		}
		low, err := p.member()
		if err != nil {
			return nil, err
		}
		if len(p.rest) > 1 && p.rest[0] == '-' && p.rest[1] != ']' && len(low) == 1 && low[0].low == low[0].high {
			p.rest = p.rest[1:]
			high, err := p.member()
			if err != nil {
				return nil, err
			}
			if len(high) != 1 || high[0].low != high[0].high || high[0].low < low[0].low {
				return nil, errors.New("has a range in [] that ends before it begins")
			}
			low = []span{{low[0].low, high[0].low}}
		}
		set = append(set, low...)
	}
	set = p.folded(set)
	if not {
		set = negate(set)
	}
	return one(node{set: set}), nil
}

// member reads one rune of a class, or an escape.
func (p *parser) member() ([]span, error) {
	r, size := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[size:]
	if r == '\\' {
		return p.escape()
	}
	return []span{{r, r}}, nil
}

// repeat reads ?, * , + or {m,n} behind n.
func (p *parser) repeat(n *node) error {
	if p.rest == "" {
		return nil
	}
	switch p.rest[0] {
	case '*', '+':
		return errors.New("has " + p.rest[:1] + ": how long a match may be must be known; write {0,40} or {1,40}")
	case '?':
		n.min, n.max, p.rest = 0, 1, p.rest[1:]
	case '{':
		end := 1
		for end < len(p.rest) && p.rest[end] != '}' {
			end++
		}
		if end == len(p.rest) {
			return errors.New("lacks a }")
		}
		low, high := p.rest[1:end], p.rest[1:end]
		for i := range low {
			if low[i] == ',' {
				low, high = low[:i], low[i+1:]
				break
			}
		}
		m, err1 := strconv.Atoi(low)
		k, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || m < 0 || k < m || k < 1 || k > maxRepeat {
			return errors.New("has " + p.rest[:end+1] + ": write {m} or {m,n} with n from 1 to " + strconv.Itoa(maxRepeat))
		}
		n.min, n.max, p.rest = m, k, p.rest[end+1:]
	default:
		return nil
	}
	if p.rest != "" && (p.rest[0] == '?' || p.rest[0] == '{' || p.rest[0] == '*' || p.rest[0] == '+') {
		return errors.New("repeats what is repeated: put it in a group; the longest match is always taken")
	}
	return nil
}

// folded returns set with the other cases of its letters where the pattern asks for it.
func (p *parser) folded(set []span) []span {
	if !p.fold {
		return set
	}
	out := slices.Clone(set)
	for _, s := range set {
		for r := s.low; r <= s.high && r-s.low < 1<<10; r++ {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				out = append(out, span{f, f})
			}
		}
	}
	return out
}

// negate returns the runes that are not in set.
func negate(set []span) (out []span) {
	set = slices.Clone(set)
	slices.SortFunc(set, func(a, b span) int { return int(a.low - b.low) })
	next := rune(0)
	for _, s := range set {
		if s.low > next {
			out = append(out, span{next, s.low - 1})
		}
		next = max(next, s.high+1)
	}
	if next <= utf8.MaxRune {
		out = append(out, span{next, utf8.MaxRune})
	}
	return out
}

// bounds returns how many bytes a match of n has at least and at most.
func (n *node) bounds() (low, high int) {
	switch {
	case n.set != nil:
		low, high = utf8.UTFMax, 1
		for _, s := range n.set {
			low, high = min(low, runeLen(s.low)), max(high, runeLen(s.high))
		}
	case n.any != nil:
		for i, a := range n.any {
			l, h := a.bounds()
			if i == 0 {
				low = l
			}
			low, high = min(low, l), max(high, h)
		}
	default:
		for _, a := range n.all {
			l, h := a.bounds()
			low, high = low+l, high+h
		}
	}
	return low * n.min, min(high*n.max, 1<<20)
}

// runeLen is utf8.RuneLen with the length of U+FFFD for what is no rune.
func runeLen(r rune) int {
	if n := utf8.RuneLen(r); n > 0 {
		return n
	}
	return 3
}
