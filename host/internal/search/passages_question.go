package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/passage"
	"github.com/parley-search/parley/host/internal/search/rank"
	"github.com/parley-search/parley/host/internal/search/text"
)

// readQuestion looks the words of a question up and returns the documents that have the most of them, by
// what the words are worth. What many documents have is worth little. Of the words that none has, those that
// make a question of it are left out: that a table of films lacks "which" says nothing.
func (s *searcher) readQuestion(q string) (*passage.Question, []candidate, error) {
	a := s.plan.Settings.Analyzer()
	out := &passage.Question{Words: func(t string) (list []string) {
		for _, w := range a.Split(t) {
			list = append(list, w.Term)
		}
		return list
	}}
	scores := make([]float32, s.View.Size())
	n := int(s.Universe.GetCardinality())
	words, joined, pairs := questionWords(a, q)
	lang, stops := text.AskingWords(words)
	within, err := s.findCompounds(lang, words, stops)
	if err != nil {
		return nil, nil, err
	}
	var asked []string // the words of out.Terms
	add := func(t passage.Term, docs, alike *roaring.Bitmap) {
		out.Terms = append(out.Terms, t)
		asked = append(asked, t.Word)
		worth := float32(0)
		for _, c := range t.Forms {
			worth = max(worth, c*float32(t.IDF))
		}
		for it := docs.Iterator(); it.HasNext(); {
			scores[it.Next()] += worth
		}
		for it := alike.Iterator(); it.HasNext(); {
			scores[it.Next()] += passage.Synonym * float32(t.IDF)
		}
	}
	var pieces []string
	for _, w := range words {
		if grams := passage.Grams(w.Term); len(grams) > 1 {
			pieces = append(pieces, grams...)
			continue
		}
		if slices.ContainsFunc(pairs, func(p [2]string) bool { return p[0] == w.Term || p[1] == w.Term }) {
			continue
		}
		forms, docs, err := s.spellings(&w, joined[w.Term], lang)
		if err != nil {
			return nil, nil, err
		}
		if len(forms) == 0 && stops[w.Term] {
			continue
		}
		alike := roaring.New()
		if !stops[w.Term] {
			if forms, err = s.addSynonyms(&w, joined[w.Term], lang, forms, alike); err != nil {
				return nil, nil, err
			}
			for form, c := range within.forms[w.Term] {
				forms[form] = max(forms[form], c)
			}
			if found := within.docs[w.Term]; found != nil {
				alike.Or(found)
			}
		}
		if docs.IsEmpty() {
			docs.Or(alike)
		}
		alike.AndNot(docs)
		term := passage.NewTerm(int(docs.GetCardinality()), n, forms, stops[w.Term])
		term.Word = w.Term
		add(term, docs, alike)
	}
	for _, p := range pairs {
		docs, err := s.haveAll(p[0], p[1])
		if err != nil {
			return nil, nil, err
		}
		term := passage.NewTerm(int(docs.GetCardinality()), n, map[string]float32{p[0] + p[1]: 1}, false)
		term.Word = p[0] + p[1]
		add(term, docs, roaring.New())
	}
	if len(pieces) > 0 {
		if err := s.grams(pieces[:min(len(pieces), maxQuestionWords)], func(t passage.Term, docs *roaring.Bitmap) { add(t, docs, roaring.New()) }); err != nil {
			return nil, nil, err
		}
	}
	addNames(out, asked, a, q)
	candidates, err := s.best(scores, maxCandidates)
	return out, candidates, err
}

// addNames adds to a question, whose first terms are of the words asked, its names and numbers with joints.
func addNames(out *passage.Question, asked []string, a *text.Analyzer, q string) {
	q = text.Clip(q, text.MaxQueryText)
	names := 0
	passage.EachName(q, func(name string) {
		if n, plain := passage.Number(name); n == len(name) && plain != "" {
			return // see below
		}
		if names++; names > maxQuestionNames {
			return
		}
		parts := map[string]bool{}
		for _, w := range a.Split(name) {
			parts[w.Term] = true
		}
		var terms []passage.Term
		for i, w := range asked {
			if parts[w] && !out.Terms[i].Asks {
				terms = append(terms, out.Terms[i])
			}
		}
		if len(terms) > 0 { // "a-t-il" names nothing
			out.Terms = append(out.Terms, passage.NewName(name, terms))
		}
	})
	passage.EachNumber(q, func(plain string, groups []string) {
		var terms []passage.Term
		for i, w := range asked {
			if slices.Contains(groups, w) {
				terms = append(terms, out.Terms[i])
			}
		}
		if names++; names <= maxQuestionNames && len(terms) > 0 {
			out.Terms = append(out.Terms, passage.NewName(plain, terms))
		}
	})
}

// Bounds of what is looked for of a question.
const (
	maxQuestionWords = 64
	maxQuestionPairs = 2 * maxQuestionWords
	maxQuestionNames = 8 // with joints
)

// questionWords are the first words of a question, each once; of the first words that follow each other, each two
// once, what each is with the other if written together: "log in" asks for what "login" says; and the pairs of
// characters among these, see [passage.Pair].
func questionWords(a *text.Analyzer, q string) (out []text.Word, joined map[string][]string, pairs [][2]string) {
	seen, seenPairs := map[string]bool{}, map[[2]string]bool{}
	joined = map[string][]string{}
	last := text.Word{Stop: true}
	for _, w := range a.Split(text.Clip(q, text.MaxQueryText)) {
		if w.Stop || strings.IndexFunc(w.Term, inName) < 0 {
			last = text.Word{Stop: true}
			continue
		}
		if !seen[w.Term] {
			if len(out) == maxQuestionWords {
				break
			}
			seen[w.Term] = true
			out = append(out, w)
		}
		pair := [2]string{last.Term, w.Term}
		if !last.Stop && w.Pos == last.Pos+1 && w.Term != last.Term && !seenPairs[pair] && len(seenPairs) < maxQuestionPairs {
			seenPairs[pair] = true
			both := last.Term + w.Term
			if _, ok := passage.Pair(last.Term, w.Term); ok {
				pairs = append(pairs, pair)
			}
			joined[last.Term] = append(joined[last.Term], both)
			joined[w.Term] = append(joined[w.Term], both)
		}
		last = w
	}
	return out, joined, pairs
}

// inName reports whether r says something: a letter, a number or a mark, and no sign.
func inName(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// best returns the n documents with the highest scores above 0, best first. Of equal ones those that came first are
// among them, however the index numbers them: that depends on what others add.
func (s *searcher) best(scores []float32, n int) ([]candidate, error) {
	list := highest(scores, n)
	if len(list) < n {
		return list, nil
	}
	least := list[n-1].score
	above := slices.IndexFunc(list, func(c candidate) bool { return c.score == least })
	var equal []uint32
	for doc, score := range scores {
		if score == least {
			equal = append(equal, uint32(doc))
		}
	}
	if above+len(equal) == n {
		return list, nil
	}
	came := make([]candidate, len(equal)) // near is when
	err := s.View.FirstNumbers(bleveindex.FieldSeq, equal, func(i int, seq, _ float64) { came[i] = candidate{equal[i], least, seq} })
	slices.SortFunc(came, func(x, y candidate) int { return cmp.Compare(x.near, y.near) })
	for i := range list[above:] {
		list[above+i].doc = came[i].doc
	}
	return list, err
}

// highest returns the n documents with the highest scores above 0, best first.
func highest(scores []float32, n int) []candidate {
	byScore := func(x, y candidate) int { return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.doc, y.doc)) }
	var list []candidate
	least := float32(0)
	for doc, score := range scores {
		if score <= least {
			continue
		}
		if list = append(list, candidate{doc: uint32(doc), score: score}); len(list) == 4*n {
			slices.SortFunc(list, byScore)
			list = list[:n]
			least = list[n-1].score
		}
	}
	slices.SortFunc(list, byScore)
	return list[:min(len(list), n)]
}

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
