package passage

import (
	"cmp"
	"math"
	"slices"
)

// A Question is what passages are scored against.
type Question struct {
	Terms []Term
	// Words splits a text that is not ASCII into words, folded as the index folds them.
	Words func(text string) []string
}

// A Term is one word of the question.
type Term struct {
	Word  string
	Docs  int     // documents that have it, in one of Forms
	IDF   float64 // what it is worth to a passage's score, see [IDF]
	Worth float64 // what it counts in coverage
	// Forms are the spellings that count as the word, folded, with what each counts: 1 for the word
	// itself, less for another form or a spelling variant. Empty: the index does not have it.
	Forms map[string]float32
	// Asks: it makes a question of the others, as "which" does.
	Asks   bool
	unseen float64 // what its worth was multiplied by, since no document has it; 0: some have
}

// IDF is the worth of a word that df of n documents have.
func IDF(df, n int) float64 {
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// fewDocuments is from how many documents on their number counts in coverage: in a handful, words that
// none of them has would count for nearly everything.
const fewDocuments = 100

// A short word of a question is rarely what it is about: me, can, how. That it is rare in documents, which
// do not ask, says less.
const (
	shortWord = 3 // letters, of the Latin alphabet
	ofShort   = 0.7
)

// scale is what the term counts against others that are as rare.
func (t *Term) scale() float64 {
	for form := range t.Forms {
		if !isShort(form) {
			return 1
		}
	}
	return ofShort
}

func isShort(word string) bool {
	return word != "" && len(word) <= shortWord && word[0] >= 'a' && word[0] <= 'z'
}

// What a word that no document has counts in coverage: more than others where there are many documents, since
// what is asked about is missing; less where there are hardly any, since a handful lacks most words.
const (
	ofUnseenByMany = 1.3
	ofUnseenByFew  = 0.7
)

// weighUnseen is what the worth of a word that none of n documents has is multiplied by.
func weighUnseen(n int) float64 {
	return ofUnseenByFew + (ofUnseenByMany-ofUnseenByFew)*min(float64(n)/fewDocuments, 1)
}

// ofStop is what a stop word counts in coverage: documents that lack the answer have it as well. It counts
// for something, since a question may have no other words.
const ofStop = 0.3

// NewTerm returns the term for a word that df of n documents have in one of forms; asks: it makes a question
// of the others.
func NewTerm(df, n int, forms map[string]float32, asks bool) Term {
	t := Term{Docs: df, Worth: IDF(df, max(n, fewDocuments)), Forms: forms, Asks: asks}
	if df == 0 {
		t.unseen = weighUnseen(n)
		t.Worth *= t.unseen
	}
	if asks {
		t.Worth *= ofStop
	}
	t.IDF = t.rarity(df, n)
	return t
}

// rarity is the worth of the term where df of n texts have it. A table has none of the words that a question
// is made of: that "what" is rare in a price list does not make it what is asked. It counts as one that half
// of the texts have.
func (t *Term) rarity(df, n int) float64 {
	if t.Asks {
		df = max(df, n/2)
	}
	return t.scale() * IDF(df, n)
}

// ofName is what a name that is written with joints counts in coverage, of its rarest part: who asks for
// P-0421 wants to know of nothing else.
const ofName = 2

// NewName returns the term for a name of several words, as [EachName] finds it, whose parts are terms.
func NewName(name string, parts []Term) Term {
	t := Term{Word: name, Forms: map[string]float32{name: 1}}
	for i := range parts {
		t.IDF = max(t.IDF, parts[i].IDF)
		t.Worth = max(t.Worth, ofName*parts[i].Worth)
	}
	return t
}

// mostWeighed is how many of a question's words count in full: a long question has more words than any
// passage that answers it.
const mostWeighed = 12

// weight is the worth of the terms, of the worthiest [mostWeighed] at most. For rows, which are short records, words
// that no document has count as others at most: "films" is in no record of a film.
func (q *Question) weight(rows bool) (sum float64) {
	worths := make([]float64, len(q.Terms))
	for i := range q.Terms {
		worths[i] = q.Terms[i].Worth
		if u := q.Terms[i].unseen; rows && u > 1 {
			worths[i] /= u
		}
	}
	slices.SortFunc(worths, func(x, y float64) int { return cmp.Compare(y, x) })
	for _, w := range worths[:min(len(worths), mostWeighed)] {
		sum += w
	}
	return sum
}
