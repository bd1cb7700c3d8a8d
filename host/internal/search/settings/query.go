package settings

// A Strategy says which words of a query a hit may lack.
type Strategy string

// The strategies, by their names on the wire.
const (
	Last      Strategy = "last"      // words are dropped from the right
	All       Strategy = "all"       // a hit has all words
	Frequency Strategy = "frequency" // the most frequent words are dropped first
	Any       Strategy = "any"       // one word will do, and what is rare counts most
)

// MaxTotalHits bounds the hits of a federated search, and those of a chat.
const MaxTotalHits = 1000

// Hybrid has a search go by meaning, too: by how near the documents' vectors
// are to the query's.
type Hybrid struct {
	Embedder string
	// SemanticRatio is how much meaning weighs against words: 0 searches by
	// words alone, 1 by meaning alone; nil: 0.5.
	SemanticRatio *float64
}

func (h *Hybrid) Ratio() float64 {
	if h.SemanticRatio == nil {
		return defaultRatio
	}
	return *h.SemanticRatio
}
