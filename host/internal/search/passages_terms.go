package search

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/passage"
	"github.com/parley-search/parley/host/internal/search/rank"
	"github.com/parley-search/parley/host/internal/search/text"
)

// eachWith calls f for each word of the index that has one of parts in it, with the number of the part and what gives the
// word's documents of the universe, which are numbered in the view. Nothing but the time of the search bounds how many
// words are looked through: which are found would else depend on those of documents that the caller may not see.
func (s *searcher) eachWith(parts []string, f func(part int, word string, docs func() (*roaring.Bitmap, error)) error) error {
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		err := s.View.EachWords(seg, func(words string) error {
			for n, part := range parts {
				for at := 0; ; {
					if s.cut.Err() != nil {
						return context.Cause(s.cut)
					}
					found := strings.Index(words[at:], part)
					if found < 0 {
						break
					}
					found += at
					word := words[strings.LastIndexByte(words[:found], '\n')+1:]
					word = word[:strings.IndexByte(word, '\n')]
					at = found + strings.IndexByte(words[found:], '\n')
					if err := f(n, word, func() (*roaring.Bitmap, error) { return s.documentsOf(seg, word) }); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if errors.Is(err, rank.ErrCutoff) {
			return nil // what was found counts
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// documentsOf returns the documents of the universe that have a term in a segment, numbered in the view.
func (s *searcher) documentsOf(seg *bleveindex.Segment, term string) (*roaring.Bitmap, error) {
	docs := roaring.New()
	dict, err := seg.Dict(bleveindex.FieldWords)
	if err != nil {
		return nil, err
	}
	b, err := s.DocumentsOf(seg, dict, rank.Derived{Term: term, Exact: true, In: text.AllAlphabets})
	if err != nil {
		return nil, err
	}
	seg.AddTo(docs, b)
	docs.And(s.Universe)
	return docs, nil
}

// haveAll returns the documents of the universe that have each of terms.
func (s *searcher) haveAll(terms ...string) (*roaring.Bitmap, error) {
	docs := roaring.New()
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		var all *roaring.Bitmap
		for _, t := range terms {
			b, err := s.documentsOf(seg, t)
			if err != nil {
				return nil, err
			}
			if all == nil {
				all = b
			} else {
				all.And(b)
			}
		}
		if all != nil {
			docs.Or(all)
		}
	}
	return docs, nil
}

// grams returns a term for each piece of a word in a script that puts no space between words, with the documents
// that have it. Pieces that nothing has count less than other words: many are of two words.
func (s *searcher) grams(pieces []string, add func(t passage.Term, docs *roaring.Bitmap)) error {
	slices.Sort(pieces)
	pieces = slices.Compact(pieces)
	having := make([]*roaring.Bitmap, len(pieces))
	for i := range having {
		having[i] = roaring.New()
	}
	err := s.eachWith(pieces, func(piece int, _ string, docs func() (*roaring.Bitmap, error)) error {
		b, err := docs()
		if err == nil {
			having[piece].Or(b)
		}
		return err
	})
	if err != nil {
		return err
	}
	n := int(s.Universe.GetCardinality())
	for i, p := range pieces {
		docs := having[i]
		t := passage.NewTerm(int(docs.GetCardinality()), n, map[string]float32{p: 1}, false)
		if t.Word = p; docs.IsEmpty() {
			t.Worth *= unseenGram
		}
		add(t, docs)
	}
	return nil
}

// unseenGram is what a piece of words counts that no document has.
const unseenGram = 0.5

// compounding are the languages that write words together.
var compounding = []string{"de", "nl", "da", "sv", "no", "fi"}

// Bounds of the words that a compound is made of, in bytes, and what a compound counts as.
const (
	minPart    = 4
	usualPart  = 5 // from here on the other part need not be a word of the index
	inCompound = 0.6
)

// linking are what stands between the parts of a compound.
var linking = []string{"", "s", "n", "en", "es", "er", "e"}

// A compounds has the words of a question that may be parts of compounds, and of which ones they are.
type compounds struct {
	stems []string
	forms map[string]map[string]float32 // by word
	docs  map[string]*roaring.Bitmap
}

// findCompounds looks for the words of an index that words of a question are parts of.
func (s *searcher) findCompounds(lang string, words []text.Word, stops map[string]bool) (*compounds, error) {
	c := &compounds{forms: map[string]map[string]float32{}, docs: map[string]*roaring.Bitmap{}}
	if !slices.Contains(compounding, lang) {
		return c, nil
	}
	var whole []string
	for _, w := range words {
		stem := text.StemmerOf(lang, w.Term).Stem(w.Term)
		if stops[w.Term] || len(stem) < minPart {
			continue
		}
		whole, c.stems = append(whole, w.Term), append(c.stems, stem)
		c.forms[w.Term], c.docs[w.Term] = map[string]float32{}, roaring.New()
	}
	if len(whole) == 0 {
		return c, nil
	}
	return c, s.eachWith(c.stems, func(i int, word string, docs func() (*roaring.Bitmap, error)) error {
		if len(word) < len(c.stems[i])+minPart {
			return nil
		}
		part, err := s.isPart(lang, word, whole[i], c.stems[i])
		if !part || err != nil {
			return err
		}
		b, err := docs()
		if err == nil && !b.IsEmpty() {
			c.forms[whole[i]][strings.Clone(word)] = inCompound
			c.docs[whole[i]].Or(b)
		}
		return err
	})
}

// isPart reports whether a word with a stem is the first or the last part of a compound.
func (s *searcher) isPart(lang, compound, word, stem string) (bool, error) {
	if strings.HasPrefix(compound, stem) {
		rest := strings.TrimPrefix(compound[len(stem):], strings.TrimPrefix(word, stem))
		return s.isRest(rest, func(link string) (string, bool) { return strings.CutPrefix(rest, link) }, stem)
	}
	if !strings.HasSuffix(text.StemmerOf(lang, compound).Stem(compound), stem) {
		return false, nil
	}
	rest := compound[:strings.LastIndex(compound, stem)]
	return s.isRest(rest, func(link string) (string, bool) { return strings.CutSuffix(rest, link) }, stem)
}

// isRest reports whether what a compound has besides a part is a word of the index, without what links the two, or
// long enough to be one.
func (s *searcher) isRest(rest string, cut func(link string) (string, bool), part string) (bool, error) {
	if len(part) >= usualPart && len(rest) >= minPart {
		return true, nil
	}
	for _, l := range linking {
		if r, ok := cut(l); ok && len(r) >= minPart-1 {
			if is, err := s.isWord(r); is || err != nil {
				return is, err
			}
		}
	}
	return false, nil
}

// isWord reports whether a document of the universe has a term: what hidden ones have is not for this caller to know.
func (s *searcher) isWord(term string) (bool, error) {
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		dict, err := seg.Dict(bleveindex.FieldWords)
		if err != nil {
			return false, err
		}
		if ok, err := seg.Has(dict, []byte(term)); err != nil {
			return false, err
		} else if !ok { // which costs less to find out
			continue
		}
		if docs, err := s.documentsOf(seg, term); err != nil || !docs.IsEmpty() {
			return err == nil, err
		}
	}
	return false, nil
}

// apart returns how a word that no document has may be written there: with a hyphen or, a number, with marks
// between its digits; in a language that writes words together as two words of the index.
func (s *searcher) apart(term, lang string) (map[string]float32, *roaring.Bitmap, error) {
	docs := roaring.New()
	if strings.Trim(term, "0123456789") == "" {
		var groups []string
		for rest := term; rest != ""; {
			at := max(len(rest)-3, 0)
			groups, rest = append(groups, rest[at:]), rest[:at]
		}
		docs, err := s.haveAll(groups...)
		return map[string]float32{term: 1}, docs, err
	}
	forms := map[string]float32{}
	for at := range term {
		first, second := term[:at], term[at:]
		if at == 0 || len(first) < minPart-1 && len(second) < minPart-1 {
			continue
		}
		if is, err := s.isWord(second); !is || err != nil {
			if err != nil {
				return nil, nil, err
			}
			continue
		}
		both, err := s.haveAll(first, second)
		if err != nil {
			return nil, nil, err
		}
		if !both.IsEmpty() {
			forms[term] = 1
			docs.Or(both)
		}
		if !slices.Contains(compounding, lang) || len(second) < minPart {
			continue
		}
		for _, l := range linking {
			part, ok := strings.CutSuffix(first, l)
			if !ok || len(part) < minPart {
				continue
			}
			both, err := s.haveAll(part, second)
			if err != nil {
				return nil, nil, err
			}
			if !both.IsEmpty() {
				forms[part], forms[second] = inCompound, inCompound
				docs.Or(both)
			}
		}
	}
	return forms, docs, nil
}
