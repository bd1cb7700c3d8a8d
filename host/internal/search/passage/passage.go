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
	"strconv"
	"strings"
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
	Found float64 // what the words of the question that it has are worth
	// Page names the page that the document is a passage of, and Place is its place there; Page is empty
	// where the document is a page itself.
	Page  string
	Place int
	// Listing: it is a list of links or a table of contents, which names much and says little.
	Listing bool
	// Headings are those that the document names itself.
	Headings []string
}

// place names what the document, d of a list, is or is a passage of.
func (d *Document) place(n int) string {
	if d.Page != "" {
		return d.Page
	}
	return strconv.Itoa(n)
}

// A Passage is a piece of a document.
type Passage struct {
	Doc      int      // index of the document
	N        int      // place in the document, from 0
	Headings []string // from the top one down to its own
	Anchor   string   // of the last one, where the text says it
	Text     string
	Row      bool // it is a short record, whose values belong together
	List     bool // most of it is a list of links, of questions or of contents
	Score    float64
	// Cover is how much of the question's weight the passage and those beside it have, 0 to 1.
	Cover float64
	// Also are the documents that have the same passage elsewhere.
	Also []int
}

// MaxText bounds the bytes of text that one call of Rank reads.
const MaxText = 2 << 20

// Rank cuts docs into passages of at most size bytes and returns those that have a word of q, best first.
// Where their texts are longer than [MaxText] in all, those are left out that have least of the question for
// their length. ratio is how much nearness in meaning counts against words, 0 to 1; where it is above 0, documents
// without a word of q show their beginning.
func Rank(docs []Document, q *Question, size int, ratio float64) []Passage {
	r := ranking{question: q, terms: len(q.Terms)}
	r.read(docs, size)
	if len(r.list) == 0 {
		return nil
	}
	r.score(docs)
	order := r.byPage(docs)
	r.cover(order)
	r.addNeighbours(order)
	r.addShares(order)
	list := r.list
	if ratio > 0 {
		addMeaning(list, docs, ratio)
	}
	list = slices.DeleteFunc(list, func(p Passage) bool { return p.Score == 0 })
	slices.SortStableFunc(list, func(x, y Passage) int { return cmp.Compare(y.Score, x.Score) })
	return vary(r.joinAlike(joinEqual(list, docs), docs), docs)
}

// minEqual is from where on passages with the same text are one: shorter ones, such as "The default is none.",
// say different things in different places.
const minEqual = 200

// joinEqual keeps the first of passages with the same text below the same heading, with the places of the
// others.
func joinEqual(list []Passage, docs []Document) []Passage {
	first := map[[2]string]int{}
	out := list[:0]
	for _, p := range list {
		if len(p.Text) >= minEqual && !p.Row {
			key := [2]string{lastHeading(&p, docs), strings.TrimSpace(p.Text)}
			if at, ok := first[key]; ok {
				if same := &out[at]; same.Doc != p.Doc {
					same.Also = append(same.Also, p.Doc)
				}
				continue
			}
			first[key] = len(out)
		}
		out = append(out, p)
	}
	return out
}

// lastHeading is the heading that a passage is below.
func lastHeading(p *Passage, docs []Document) string {
	title := p.Title(&docs[p.Doc])
	return title[strings.LastIndex(title, ">")+1:]
}

// A ranking is what Rank has read.
type ranking struct {
	question *Question
	terms    int
	list     []Passage
	counts   []float32 // of the terms in each passage, one passage after the other
	lengths  []int     // in words
	total    int       // words of all passages
}

// of returns the counts of passage i.
func (r *ranking) of(i int) []float32 { return r.counts[i*r.terms : (i+1)*r.terms] }

// read cuts docs into passages and counts the question's words in each: in its text, its headings and what
// names the document.
func (r *ranking) read(docs []Document, size int) {
	s := newScanner(r.question)
	name := make([]float32, r.terms)
	pages := map[string][][]string{} // the headings of the passages of each page that was imported as such
	for i := range docs {
		if d := &docs[i]; d.Page != "" && len(d.Headings) > 0 {
			pages[d.Page] = append(pages[d.Page], d.Headings)
		}
	}
	room := MaxText
	for _, d := range readingOrder(docs) {
		doc := &docs[d]
		if len(doc.Text) > room && room < MaxText {
			continue
		}
		room -= len(doc.Text)
		text := doc.Text[:min(len(doc.Text), MaxText)]
		clear(name)
		s.count(name, doc.Title)
		s.count(name, doc.URL)
		s.count(name, doc.Path)
		parts := []Part{{Text: text}}
		if !doc.Whole {
			parts = Split(text, size)
		}
		isHeading := func(item string) bool {
			is := func(h string) bool { return strings.EqualFold(h, item) }
			return slices.ContainsFunc(pages[doc.Page], func(list []string) bool { return slices.ContainsFunc(list, is) }) ||
				slices.ContainsFunc(parts, func(p Part) bool { return slices.ContainsFunc(p.Headings, is) })
		}
		for n, p := range parts {
			r.counts = append(r.counts, name...)
			counts := r.of(len(r.list))
			for _, h := range p.Headings {
				s.count(counts, h)
			}
			length, listed := s.countText(counts, p.Text, isHeading)
			r.total += length
			r.lengths = append(r.lengths, length)
			r.list = append(r.list, Passage{Doc: d, N: n, Headings: p.Headings, Anchor: p.Anchor, Text: p.Text, Row: doc.Whole && doc.Page == "", List: doc.Listing || float64(listed) > ofText*float64(len(p.Text))})
		}
	}
}
