package rank

import (
	"fmt"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/text"
)

// A packedExpansion is an expansion of all attributes and documents of a segment,
// as it is kept for the next search that has the word. Many of these are kept: they
// are bytes, so that the garbage collector has nothing to follow in them.
type packedExpansion struct {
	terms string // of each term how many typos it has and how long it is, a byte each, and the term
	count int    // of terms
	docs  []byte // the bitmaps of within, one behind the other
	ends  [3]int // of each in docs
}

// pack returns x as it is kept. Nothing of it is in mapped files.
func (x *expansion) pack() (*packedExpansion, error) {
	p := &packedExpansion{count: len(x.derived)}
	var terms strings.Builder
	for _, d := range x.derived {
		terms.WriteByte(d.typos | exactBit*boolByte(d.Exact))
		terms.WriteByte(byte(len(d.Term))) // words are no longer than text.MaxWord
		terms.WriteString(d.Term)
	}
	p.terms = terms.String()
	for i, docs := range x.within {
		if i == 0 || docs.GetCardinality() > x.within[i-1].GetCardinality() {
			b, err := docs.ToBytes()
			if err != nil {
				return p, fmt.Errorf("keep the documents of a word: %w", err)
			}
			p.docs = append(p.docs, b...)
		} // else it is the same as the one before
		p.ends[i] = len(p.docs)
	}
	return p, nil
}

// exactBit marks the very word among terms.
const exactBit = 1 << 7

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// unpack returns the expansion, whose words count in some alphabets.
func (p *packedExpansion) unpack(in text.AlphabetSet) (*expansion, error) {
	x := &expansion{derived: make([]Derived, p.count)}
	rest := p.terms
	for i := range x.derived {
		n := 2 + int(rest[1])
		x.derived[i] = Derived{rest[2:n], rest[0] &^ exactBit, rest[0]&exactBit != 0, in}
		x.known = x.known || x.derived[i].Exact
		rest = rest[n:]
	}
	from := 0
	for i, end := range p.ends {
		if end == from {
			x.within[i] = x.within[i-1]
			continue
		}
		x.within[i] = roaring.New()
		if _, err := x.within[i].FromBuffer(p.docs[from:end]); err != nil {
			return nil, fmt.Errorf("read the documents kept of a word: %w", err)
		}
		from = end
	}
	return x, nil
}

// size is how many bytes p takes, with what keeps it.
func (p *packedExpansion) size() int { return 512 + len(p.terms) + len(p.docs) }
