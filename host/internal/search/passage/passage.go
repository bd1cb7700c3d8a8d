// Package passage finds the places in texts that answer a question.
//
// Search finds documents; a page of 30 kB holds the answer somewhere. Split cuts texts into passages of
// at most a kilobyte and a half, at headings and paragraphs; Rank scores the passages of some documents
// against the words of a question; Fit takes the best of them until a budget of bytes is used up.
// The package reads no index: what a word of the question is worth, and how else it may be spelled, is
// given to it in a [Question].
package passage

import (
	"cmp"
	"slices"
)

// A Document is what was found, as text to be cut into passages.
type Document struct {
	ID    string
	Title string
	URL   string // absolute, or empty
	Path  string // further words that name the document, such as its path; not shown
	Text  string
	// Whole: Text is one passage, whatever its length. It is a short record.
	Whole bool
	Near  float64 // how near it is to the question in meaning, 0 to 1
}

// A Passage is a piece of a document.
type Passage struct {
	Doc      int      // index of the document
	N        int      // place in the document, from 0
	Headings []string // from the top one down to its own
	Text     string
	Score    float64
	// Cover is how much of the question's weight the passage has, 0 to 1.
	Cover float64
}

// Parameters of BM25, and the share of its document in a passage's score.
const (
	k1          = 1.2
	b           = 0.75
	ofDocument  = 0.5
	topPassages = 3 // of a document, that make its share
)

// MaxText bounds the bytes of text that one call of Rank reads; documents beyond it are left out.
const MaxText = 1 << 20

// Rank cuts docs into passages of at most size bytes and returns those that have a word of q, best first.
// Documents should come best first: where their texts are longer than [MaxText] in all, the last are left
// out. ratio is how much nearness in meaning counts against words, 0 to 1; where it is above 0, documents
// without a word of q show their beginning.
func Rank(docs []Document, q *Question, size int, ratio float64) []Passage {
	var list []Passage
	var counts [][]float32 // of each passage, by term
	var lengths []int
	s := newScanner(q)
	room, total := MaxText, 0
	for d := range docs {
		doc := &docs[d]
		if room -= len(doc.Text); room < 0 && d > 0 {
			break
		}
		text := doc.Text[:min(len(doc.Text), MaxText)]
		name := s.count(nil, doc.Title)
		name = s.count(name, doc.URL)
		name = s.count(name, doc.Path)
		parts := []Part{{Text: text}}
		if !doc.Whole {
			parts = Split(text, size)
		}
		for n, p := range parts {
			c := slices.Clone(name)
			for _, h := range p.Headings {
				c = s.count(c, h)
			}
			c = s.count(c, p.Text)
			length := s.length
			total += length
			list = append(list, Passage{Doc: d, N: n, Headings: p.Headings, Text: p.Text})
			counts, lengths = append(counts, c), append(lengths, length)
		}
	}
	if len(list) == 0 {
		return nil
	}
	average := float64(max(total, 1)) / float64(len(list))
	for i := range list {
		list[i].Score, list[i].Cover = q.score(counts[i], float64(lengths[i])/average)
	}
	addShares(list, len(docs))
	if ratio > 0 {
		addMeaning(list, docs, ratio)
	}
	list = slices.DeleteFunc(list, func(p Passage) bool { return p.Score == 0 })
	slices.SortStableFunc(list, func(x, y Passage) int { return cmp.Compare(y.Score, x.Score) })
	return list
}

// score is the BM25 of a passage with counts, and the part of the question's weight that it has; length
// is in average passages.
func (q *Question) score(counts []float32, length float64) (score, cover float64) {
	for t, n := range counts {
		if n == 0 {
			continue
		}
		tf, term := float64(n), &q.Terms[t]
		score += term.IDF * tf * (k1 + 1) / (tf + k1*(1-b+b*length))
		cover += term.Worth * min(tf, 1)
	}
	if w := q.weight(); w > 0 {
		cover /= w
	}
	return score, cover
}

// addShares adds to each passage what its document has: a page about the question's matter goes before
// one that mentions it.
func addShares(list []Passage, docs int) {
	best, largest := 0.0, 0.0
	sums := make([]float64, docs)
	var top []float64
	for from := 0; from < len(list); {
		to := from
		top = top[:0]
		for ; to < len(list) && list[to].Doc == list[from].Doc; to++ {
			best = max(best, list[to].Score)
			top = append(top, list[to].Score)
		}
		slices.SortFunc(top, func(x, y float64) int { return cmp.Compare(y, x) })
		sum := 0.0
		for _, s := range top[:min(len(top), topPassages)] {
			sum += s
		}
		sums[list[from].Doc] = sum
		largest = max(largest, sum)
		from = to
	}
	if largest == 0 {
		return
	}
	for i := range list {
		if p := &list[i]; p.Score > 0 {
			p.Score += best * ofDocument * sums[p.Doc] / largest
		}
	}
}

// addMeaning weighs the scores of words, as parts of the best one, against the nearness of the documents.
func addMeaning(list []Passage, docs []Document, ratio float64) {
	best := 0.0
	worded := make([]bool, len(docs))
	for i := range list {
		best = max(best, list[i].Score)
		worded[list[i].Doc] = worded[list[i].Doc] || list[i].Score > 0
	}
	for i := range list {
		p := &list[i]
		switch {
		case p.Score > 0:
			p.Score = (1-ratio)*p.Score/best + ratio*docs[p.Doc].Near
		case p.N == 0 && !worded[p.Doc]:
			p.Score = ratio * docs[p.Doc].Near
		}
	}
}
