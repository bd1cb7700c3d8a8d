package passage

import "math"

// A Question is what passages are scored against.
type Question struct {
	Terms []Term
	// Words splits a text that is not ASCII into words, folded as the index folds them.
	Words func(text string) []string
}

// A Term is one word of the question.
type Term struct {
	IDF   float64 // what it is worth to a passage's score, see [IDF]
	Worth float64 // what it counts in coverage
	// Forms are the spellings that count as the word, folded, with what each counts: 1 for the word
	// itself, less for another form or a spelling variant. Empty: the index does not have it.
	Forms map[string]float32
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

// NewTerm returns the term for a word that df of n documents have in one of forms; stop: it makes a question
// of the others, as "which" does.
func NewTerm(df, n int, forms map[string]float32, stop bool) Term {
	t := Term{Worth: IDF(df, max(n, fewDocuments)), Forms: forms}
	if df == 0 {
		t.Worth *= weighUnseen(n)
	}
	if stop {
		t.Worth *= ofStop
	}
	t.IDF = t.scale() * IDF(df, n)
	return t
}

// weight is the worth of all terms.
func (q *Question) weight() (sum float64) {
	for i := range q.Terms {
		sum += q.Terms[i].Worth
	}
	return sum
}
