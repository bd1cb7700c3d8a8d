package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/passage"
	"github.com/parley-search/parley/host/internal/search/rank"
	"github.com/parley-search/parley/host/internal/search/text"
)

// What spellings other than the word itself count as.
const (
	wordForm   = 0.6  // in English and where the language is not known
	inflected  = 0.85 // in other languages, whose words have more forms
	misspelt   = 0.7
	joinedWord = 0.8
)

// spellings returns how a word of a question may be spelled in documents, with what each spelling counts
// as, and the documents of the universe that have one. Spelling variants are looked for only where the
// index lacks the word and its forms. joined are words that w is a part of.
func (s *searcher) spellings(w *text.Word, joined []string, lang string) (map[string]float32, *roaring.Bitmap, error) {
	forms := map[string]float32{}
	docs := roaring.New()
	for _, f := range w.Spellings() {
		for i := range s.View.Segs {
			if err := s.addForms(&s.View.Segs[i], f, 1, lang, forms, docs); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, j := range joined {
		for i := range s.View.Segs {
			if err := s.addForms(&s.View.Segs[i], text.Form{Term: j, In: text.AllAlphabets}, joinedWord, lang, forms, docs); err != nil {
				return nil, nil, err
			}
		}
	}
	if docs.And(s.Universe); !docs.IsEmpty() {
		return forms, docs, nil
	}
	near, nearby, err := s.variants(w)
	if err != nil {
		return nil, nil, err
	}
	forms, docs, err = s.apart(w.Term, lang)
	if err != nil || docs.IsEmpty() {
		return near, nearby, err
	}
	maps.Copy(forms, near)
	docs.Or(nearby)
	return forms, docs, nil
}

// addSynonyms adds to forms what else is used for the same as w, and to alike the documents of the universe that
// have it: what the index's setting says counts as w itself, what the language has otherwise counts less. How rare
// w is does not change by it.
func (s *searcher) addSynonyms(w *text.Word, joined []string, lang string, forms map[string]float32, alike *roaring.Bitmap) (map[string]float32, error) {
	counts := map[string]float32{}
	for _, j := range slices.Concat([]string{w.Term}, joined) {
		for _, term := range passage.Synonyms(lang, j) {
			counts[text.Fold(term)] = passage.Synonym
		}
	}
	for _, words := range s.plan.Synonyms[w.Term] {
		for i := range words {
			counts[words[i].Term] = passage.Synonym
			if len(words) == 1 {
				counts[words[i].Term] = 1
			}
		}
	}
	if forms == nil {
		forms = map[string]float32{}
	}
	for term, c := range counts {
		for i := range s.View.Segs {
			f := text.Form{Term: term, In: text.AllAlphabets}
			if err := s.addForms(&s.View.Segs[i], f, c, lang, forms, alike); err != nil {
				return nil, err
			}
		}
	}
	alike.And(s.Universe)
	return forms, nil
}

// addForms adds to forms and docs what a segment has of a word, which counts as said, and its forms, which
// count less.
func (s *searcher) addForms(seg *bleveindex.Segment, f text.Form, counts float32, lang string, forms map[string]float32, docs *roaring.Bitmap) error {
	dict, err := seg.Dict(bleveindex.FieldWords)
	if err != nil {
		return err
	}
	narrowed := s.Universe.GetCardinality() < s.View.Live.GetCardinality()
	add := func(term string, counts float32) error {
		b, err := s.DocumentsOf(seg, dict, rank.Derived{Term: term, Exact: term == f.Term, In: f.In})
		if err != nil || b.IsEmpty() {
			return err
		}
		if narrowed { // how others' documents spell it is not for this caller to know
			found := roaring.New()
			if seg.AddTo(found, b); !found.Intersects(s.Universe) {
				return nil
			}
		}
		forms[term] = max(forms[term], counts)
		seg.AddTo(docs, b)
		return nil
	}
	if err := add(f.Term, counts); err != nil {
		return err
	}
	stemmer, form := text.StemmerOf(lang, f.Term), float32(inflected)
	if lang == "" || lang == "en" {
		form = wordForm
	}
	stem := stemmer.Stem(f.Term)
	if stem == "" {
		return nil
	}
	low := []byte(text.StemPrefix(f.Term, stem))
	it := bleveindex.EachTerm(dict, nil, low, bleveindex.NextKey(low))
	for n := 0; n&0xff != 0 || s.cut.Err() == nil; n++ {
		e, err := it.Next()
		if err != nil {
			return fmt.Errorf("read terms of %s: %w", bleveindex.FieldWords, err)
		}
		if e == nil {
			return nil
		}
		if e.Term == f.Term || stemmer.Stem(e.Term) != stem {
			continue
		}
		if err := add(e.Term, counts*form); err != nil {
			return err
		}
	}
	if s.Ctx.Err() != nil {
		return context.Cause(s.Ctx)
	}
	return nil // what was found counts
}

// maxVariants is how many misspelt words one may stand for: the most frequent ones.
const maxVariants = 3

// variants returns the words that w may be a misspelling of, and their documents.
func (s *searcher) variants(w *text.Word) (map[string]float32, *roaring.Bitmap, error) {
	docs := roaring.New()
	typos := s.plan.Typo.Allowed(w.Term)
	if typos == 0 {
		return nil, docs, nil
	}
	e, err := s.ExpandWord(w.Spellings(), false, typos)
	if err != nil {
		return nil, nil, err
	}
	of := map[string]*roaring.Bitmap{}
	for i := range s.View.Segs {
		seg := &s.View.Segs[i]
		dict, err := seg.Dict(bleveindex.FieldWords)
		if err != nil {
			return nil, nil, err
		}
		for _, d := range e.Derived[i] {
			b, err := s.DocumentsOf(seg, dict, d)
			if err != nil {
				return nil, nil, err
			}
			if of[d.Term] == nil {
				of[d.Term] = roaring.New()
			}
			seg.AddTo(of[d.Term], b)
		}
	}
	var terms []string
	for term, b := range of {
		if b.And(s.Universe); !b.IsEmpty() {
			terms = append(terms, term)
		}
	}
	slices.SortFunc(terms, func(x, y string) int {
		return cmp.Or(cmp.Compare(of[y].GetCardinality(), of[x].GetCardinality()), cmp.Compare(x, y))
	})
	forms := map[string]float32{}
	for _, term := range terms[:min(len(terms), maxVariants)] {
		forms[term] = misspelt
		docs.Or(of[term])
	}
	return forms, docs, nil
}
