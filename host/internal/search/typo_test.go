package search_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// edits is how many letters must be put in, taken out, replaced or swapped with
// a neighbour to make b of a: the textbook's table.
func edits(a, b string) int {
	x, y := []rune(a), []rune(b)
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}

// typosBetween is how many typos a word of a text is away from one of a query,
// -1 where too many: one from five letters, two from nine, a wrong first letter
// counting twice; as a beginning, of the text's word the best one.
func typosBetween(asked, stands string, prefix bool) int {
	if asked == stands || prefix && strings.HasPrefix(stands, asked) {
		return 0
	}
	allowed := 0
	switch n := len([]rune(asked)); {
	case n >= 9:
		allowed = 2
	case n >= 5:
		allowed = 1
	}
	best := edits(asked, stands)
	if prefix {
		for i := range stands {
			best = min(best, edits(asked, stands[:i]))
		}
	}
	if []rune(asked)[0] != []rune(stands)[0] {
		best++
	}
	if best > allowed {
		return -1
	}
	return best
}

// TestTyposAsCounted makes words that differ little and wants of each query what
// the textbook's table says: who matches, and in the order of the typos in all.
func TestTyposAsCounted(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"searchableAttributes":["text"],"rankingRules":["typo"],"pagination":{"maxTotalHits":10000}}`)
	rng := rand.New(rand.NewPCG(31, 32))
	spoil := func(w string) string {
		x := []rune(w)
		for range rng.IntN(4) {
			i := rng.IntN(len(x))
			letter := []rune("abnétr")[rng.IntN(6)]
			switch rng.IntN(4) {
			case 0:
				x = slices.Insert(x, i, letter)
			case 1:
				if len(x) > 3 {
					x = slices.Delete(x, i, i+1)
				}
			case 2:
				x[i] = letter
			case 3:
				if i > 0 {
					x[i], x[i-1] = x[i-1], x[i]
				}
			}
		}
		return string(x)
	}
	plain := strings.NewReplacer("é", "e")
	seeds := []string{"banana", "banter", "train", "trainstation", "entertain", "rate", "antenna"}
	word := func() string { return spoil(seeds[rng.IntN(len(seeds))]) }
	type doc struct {
		ID   int    `json:"id"`
		Text string `json:"text"`
	}
	var docs []doc
	known := map[string]bool{}
	for i := range 400 {
		d := doc{i, word() + " " + word() + " " + word()}
		for _, w := range strings.Fields(d.Text) {
			known[plain.Replace(w)] = true
		}
		docs = append(docs, d)
	}
	body, err := json.Marshal(docs)
	if err != nil {
		t.Fatal(err)
	}
	r.add("a", string(body))
	asked, found := 0, 0
	for asked < 400 {
		ws := []string{word(), word()}[:1+rng.IntN(2)]
		joined := plain.Replace(strings.Join(ws, ""))
		open := rng.IntN(2) == 0
		// Words written in one, or apart, are another test's.
		apart := slices.ContainsFunc(ws, func(w string) bool {
			w = plain.Replace(w)
			for i := range w {
				if known[w[:i]] || known[w[i:]] && i > 0 {
					return true
				}
			}
			return false
		})
		for k := range known {
			apart = apart || len(ws) > 1 && strings.HasPrefix(k, joined)
		}
		if apart {
			continue
		}
		asked++
		q := strings.Join(ws, " ")
		if !open {
			q += " "
		}
		byTypos := make([][]string, 10)
		for _, d := range docs {
			sum := 0
			for i, w := range ws {
				best := -1
				for _, s := range strings.Fields(d.Text) {
					n := typosBetween(plain.Replace(w), plain.Replace(s), open && i == len(ws)-1)
					if n >= 0 && (best < 0 || n < best) {
						best = n
					}
				}
				if best < 0 {
					sum = -1
					break
				}
				sum += best
			}
			if sum >= 0 {
				byTypos[sum] = append(byTypos[sum], fmt.Sprint(d.ID))
				found++
			}
		}
		want := strings.Join(slices.Concat(byTypos...), " ")
		if got := r.ids("a", search.Query{Q: q, Limit: limit(1000), MatchingStrategy: settings.All}); got != want {
			t.Fatalf("%q found\n%s, want by typos\n%v", q, got, byTypos[:5])
		}
	}
	if found < 1000 {
		t.Errorf("only %d hits for %d queries: nothing was tried", found, asked)
	}
}

// TestTyposBeyondLast searches a word that more words are one typo from than stand for it,
// where a segment has none of the first ones.
func TestTyposBeyondLast(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const word = "lampen"
	n := 0
	for at := 1; at < len(word); at++ { // a typo in the first letter counts twice
		var docs []string
		for c := 'a'; c <= 'y'; c++ {
			for _, rest := range []string{word[at:], word[at+1:]} {
				docs = append(docs, fmt.Sprintf(`{"id":%d,"text":%q}`, n, word[:at]+string(c)+rest))
				n++
			}
		}
		r.add("a", "["+strings.Join(docs, ",")+"]")
	}
	// Behind all others, in a segment of its own.
	r.add("a", fmt.Sprintf(`{"id":%d,"text":"lzampen"}`, n))
	for range 2 { // made, and as it was kept
		res, err := r.svc.Search(t.Context(), auth.Everyone(), "a", search.Query{Q: word, Limit: limit(1000)})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Hits) < 150 || len(res.Hits) > n {
			t.Errorf("%d hits, want those of the first 150 words", len(res.Hits))
		}
	}
}
