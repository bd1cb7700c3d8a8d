package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/search/write"
)

// TestVectorCounts writes and deletes at random, and wants the counts that are
// kept along the way to be those of what is there.
func TestVectorCounts(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["n"],"embedders":{"one":{"source":"userProvided","dimensions":1},"two":{"source":"userProvided","dimensions":2}}}`)
	rng := rand.New(rand.NewPCG(7, 8))
	check := func(step int) {
		t.Helper()
		st, err := r.svc.Stats(auth.Everyone(), "a")
		if err != nil {
			t.Fatal(err)
		}
		documents, vectors, err := r.svc.CountVectors(t.Context(), "a")
		if err != nil || st.Embedded != documents || st.Embeddings != vectors {
			t.Errorf("step %d: %d vectors of %d documents are told, %d of %d are there, %v", step, st.Embeddings, st.Embedded, vectors, documents, err)
		}
	}
	given := func() string {
		one := []string{`[1]`, `[[1],[2],[3]]`, `null`, `{"embeddings":[4],"regenerate":false}`}[rng.IntN(4)]
		two := []string{`[1,1]`, `[]`}[rng.IntN(2)]
		return []string{`{}`, `{"one":` + one + `}`, `{"two":` + two + `,"other":[1]}`, `{"one":` + one + `,"two":` + two + `}`}[rng.IntN(4)]
	}
	for step := range 40 {
		switch rng.IntN(6) {
		case 0:
			r.ok(write.DeleteDocuments("a", []string{fmt.Sprint(rng.IntN(9)), fmt.Sprint(rng.IntN(9))}))
		case 1:
			r.ok(r.svc.DeleteByFilter("a", filter(fmt.Sprintf("n = %d", rng.IntN(4)))))
		default:
			var docs []string
			for range 1 + rng.IntN(5) {
				docs = append(docs, fmt.Sprintf(`{"id":%d,"n":%d,"_vectors":%s}`, rng.IntN(9), rng.IntN(4), given()))
			}
			r.ok(write.AddDocuments("a", "", rng.IntN(2) == 0, []byte("["+strings.Join(docs, ",")+"]")))
		}
		check(step)
	}
	r.add("a", `{"id":1,"_vectors":{"one":[1],"two":[[1,2],[3,4]],"other":[[1],[2]]}}`)
	check(40)
	r.settings("a", `{"embedders":{"one":null}}`)
	check(41)
	r.reopen()
	check(42)
	r.settings("a", `{"embedders":{"other":{"source":"userProvided","dimensions":1}}}`)
	check(43)
	st, err := r.svc.Stats(auth.Everyone(), "a")
	if err != nil || st.Embedded == 0 || st.FolderBytes < st.UsedBytes || st.UsedBytes == 0 {
		t.Errorf("stats at the end: %+v, %v", st, err)
	}
	r.ok(write.DeleteAllDocuments("a"))
	if st, err = r.svc.Stats(auth.Everyone(), "a"); err != nil || st.Embedded != 0 || st.Embeddings != 0 {
		t.Errorf("stats of no documents: %+v, %v", st, err)
	}
}
