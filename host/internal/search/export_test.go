package search

import (
	"context"
	"io"
	"strconv"
)

// What the tests see of the inside.

// ParseFilter parses a filter of a request and writes it in a canonical form.
func ParseFilter(raw []byte) (string, error) {
	n, err := parseFilter(raw, true)
	if err != nil {
		return "", err
	}
	return n.String(), nil
}

// ParseExpression is the parser of one expression, with CONTAINS off.
func ParseExpression(s string) error {
	_, err := parseExpression(s, false)
	return err
}

// Terms returns the words of a text with their places.
func Terms(text string) (terms []string, places []int) {
	for _, w := range words(text) {
		terms = append(terms, w.term)
		places = append(places, w.pos)
	}
	return terms, places
}

// AppendNumber and ParseNumber are the encoding of numbers in a folder.
var (
	AppendNumber = appendNumber
	ParseNumber  = parseNumber
)

// Merge is a partial update.
var Merge = merge

// Records calls f for the documents of a body and returns the error behind the
// last.
func Records(r io.Reader, format BodyFormat, delimiter byte, f func(line int, body []byte)) error {
	records := newRecords(r, format, delimiter)
	for {
		r, err := records.next()
		if err != nil {
			return err
		}
		f(r.line, r.body)
	}
}

// Dedupe is what is done to a document in which a name comes twice.
var Dedupe = dedupe

// Enter takes a place among the searches that run.
func (s *Service) Enter(ctx context.Context) (leave func(), err error) { return s.gate.enter(ctx) }

// ParseQuery writes what a query asks for: units by words, phrases in quotes,
// what goes on with a star, what is excluded with a minus.
func ParseQuery(q string, stop ...string) (units []string) {
	qp := queryParser{stop: map[string]bool{}, prefix: true}
	for _, w := range stop {
		qp.stop[w] = true
	}
	p := qp.parse(q)
	for _, u := range p.units {
		text := joinWords(u.words)
		if u.phrase {
			text = strconv.Quote(text)
		}
		if u.prefix {
			text += "*"
		}
		units = append(units, text)
	}
	for _, ws := range p.excluded {
		units = append(units, "-"+joinWords(ws))
	}
	return units
}

// Waiting is how many searches wait.
func (s *Service) Waiting() int { return int(s.gate.waiting.Load()) }

// StopRepairs keeps folders as they are until the service is opened anew.
func StopRepairs(s *Service) { s.stop() }

// Apart is the smallest distance between places of two words: pairs of a field
// and a place in it.
func Apart(a, b [][2]int) int {
	spots := func(list [][2]int) []spot {
		var out []spot
		for _, p := range list {
			out = append(out, spot{field: uint16(p[0]), pos: uint16(p[1]), length: 1})
		}
		return out
	}
	s := &searcher{plan: &plan{}}
	return int(s.apart(spots(a), spots(b)))
}

// MemoryUsed is what Go has from the system and uses, in bytes.
func MemoryUsed() int64 { return readMemory().used() }

// CountVectors counts what an index has of vectors anew.
func (s *Service) CountVectors(ctx context.Context, uid string) (documents, vectors int, err error) {
	m := s.find(uid).meta().clone()
	err = s.recountVectors(ctx, m)
	return m.Vectors.Documents, m.Vectors.Vectors, err
}
