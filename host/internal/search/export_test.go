package search

import "io"

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
