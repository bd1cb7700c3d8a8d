package bleveindex

import (
	"fmt"
	"strings"
)

// Bounds of the bytes of words that are kept of a segment, and that are read at once of those beyond.
const (
	keptWords = ColumnBytes / 4
	moreWords = 256 << 10
)

// EachWords calls f with the terms of FieldWords that a segment has from "a" on, in order, many at once: a line break
// stands before, between and behind them. To look for a piece in that takes far less time than to walk the dictionary.
func (v *View) EachWords(seg *Segment, f func(words string) error) error {
	dict, err := seg.Dict(FieldWords)
	if err != nil {
		return err
	}
	kept, err := v.keptIn(v.columns.columns, seg, FieldWords, func() (any, int, error) {
		words, err := readWords(dict, []byte("a"), keptWords)
		return words, len(words), err
	})
	if err != nil {
		return err
	}
	for words := kept.(string); len(words) > 1; {
		if err := f(words); err != nil {
			return err
		}
		last := words[:len(words)-1]
		low := append([]byte(last[strings.LastIndexByte(last, '\n')+1:]), 0)
		if words, err = readWords(dict, low, moreWords); err != nil {
			return err
		}
	}
	return nil
}

// readWords returns the terms of a dictionary from low on, as EachWords has them, of about most bytes.
func readWords(dict Dictionary, low []byte, most int) (string, error) {
	words := []byte("\n")
	for it := EachTerm(dict, nil, low, nil); len(words) < most; {
		e, err := it.Next()
		if err != nil {
			return "", fmt.Errorf("read terms of %s: %w", FieldWords, err)
		}
		if e == nil {
			break
		}
		if strings.IndexByte(e.Term, '\n') < 0 { // settings may have a word of two lines: it is no compound
			words = append(append(words, e.Term...), '\n')
		}
	}
	return string(words), nil
}
