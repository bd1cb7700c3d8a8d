package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/passage"
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
