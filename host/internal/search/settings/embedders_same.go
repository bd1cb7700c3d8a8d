package settings

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
)

// HashText tells texts apart. It is kept: never change it.
func HashText(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// Fingerprint stands for all that SameVectors compares. It is kept: never change
// it.
func (e *Embedder) Fingerprint() uint64 {
	d, _ := e.ForDocuments("")
	d = d.API()
	of := fmt.Sprintf("%q %q %d %q %d %q %q", d.Source, d.URL, e.VectorDimensions(), d.DocumentTemplate, d.MaxBytes, d.Request, d.Response)
	for _, name := range slices.Sorted(maps.Keys(d.IndexingFragments)) {
		of += fmt.Sprintf(" %q %q", name, d.IndexingFragments[name])
	}
	if d.Plugged() {
		of += fmt.Sprintf(" %q", d.Model) + optionsText(d.Options)
	}
	return HashText(of)
}

// SameModel reports whether e makes the same vectors of the same documents'
// texts as b.
func (e *Embedder) SameModel(b *Embedder) bool {
	x, _ := e.ForDocuments("")
	y, _ := b.ForDocuments("")
	x, y = x.API(), y.API()
	return x.Source == y.Source && x.URL == y.URL && e.VectorDimensions() == b.VectorDimensions() &&
		string(x.Request) == string(y.Request) && string(x.Response) == string(y.Response) && (!x.Plugged() || x.Model == y.Model && sameOptions(x.Options, y.Options))
}

// SameVectors reports whether e makes the same vectors of the same documents as
// b.
func (e *Embedder) SameVectors(b *Embedder) bool {
	x, _ := e.ForDocuments("")
	y, _ := b.ForDocuments("")
	return e.SameModel(b) && x.DocumentTemplate == y.DocumentTemplate && x.MaxBytes == y.MaxBytes &&
		maps.EqualFunc(x.IndexingFragments, y.IndexingFragments, func(a, b json.RawMessage) bool { return string(a) == string(b) })
}
