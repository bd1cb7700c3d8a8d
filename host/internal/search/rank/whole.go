package rank

import (
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A whole says which documents have an attribute that is the query and no more.
type whole struct {
	exact *roaring.Bitmap // word for word
	// open are those where the query's last word goes on to its end: a title
	// "star wars" for "star wa".
	open *roaring.Bitmap
}

// findWhole finds the documents of which an attribute is the query.
func (s *Searcher) findWhole() error {
	for _, f := range s.plan.Parsed.Whole {
		if err := s.findWholeForm(f.Term, f.In); err != nil {
			return err
		}
	}
	return nil
}

// findWholeForm is findWhole for the query as some alphabets write it.
func (s *Searcher) findWholeForm(text string, in text.AlphabetSet) error {
	low := []byte(text + "\x00")
	var accept folder.Automaton
	if s.plan.Parsed.Open {
		low, accept = []byte(text), openWhole{text}
	}
	steps := 0
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		dict, err := seg.Dict(folder.FieldWhole)
		if err != nil {
			return err
		}
		for it := dict.AutomatonIterator(accept, low, folder.NextKey(low)); ; steps++ {
			entry, err := it.Next()
			if err != nil {
				return err
			}
			if entry == nil {
				break
			}
			if err := s.check(steps); err != nil {
				return err
			}
			if !s.plan.Fields.counts(folder.WholeField(entry.Term), 0, in) {
				continue
			}
			docs, err := seg.Postings(dict, []byte(entry.Term))
			if err != nil {
				return err
			}
			found := s.whole.open
			if strings.HasPrefix(entry.Term[len(text):], "\x00") {
				found = s.whole.exact
			}
			seg.AddTo(found, docs)
		}
	}
	return nil
}

// openWhole accepts the terms of folder.FieldWhole whose text begins with its own and
// has no word behind it. Its states count the bytes of the text that were read.
type openWhole struct{ text string }

const (
	refused  = -1
	behindIt = 1 << 30 // the text has ended; what follows is the field's number
)

func (o openWhole) Start() int                 { return 0 }
func (o openWhole) IsMatch(s int) bool         { return s == behindIt }
func (o openWhole) CanMatch(s int) bool        { return s != refused }
func (o openWhole) WillAlwaysMatch(s int) bool { return s == behindIt }
func (o openWhole) Accept(s int, b byte) int {
	switch {
	case s == behindIt:
		return behindIt
	case s < len(o.text):
		if s == refused || o.text[s] != b {
			return refused
		}
		return s + 1
	case b == ' ':
		return refused
	case b == 0:
		return behindIt
	}
	return s
}
