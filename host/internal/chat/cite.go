package chat

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/search/text"
)

const maxCitations = 100 // of marks in the text

// A citable is a place that a search gave the model. Its number is its place in the list, from 1.
type citable struct{ index, id, name, url, path, text string }

// addCitable notes the hits of a search of an index, each place once, and gives each its number. base is where
// documents without a link of their own are found.
func addCitable(list []citable, base, index string, hits []Hit) []citable {
	for i := range hits {
		h := &hits[i]
		c := citable{index: index, id: h.ID, name: h.Name(), url: h.Link(base, index), text: h.Text}
		if f, ok := h.File(); ok {
			c.path = f.Path
		}
		at := slices.IndexFunc(list, func(o citable) bool { return o.index == c.index && o.id == c.id && o.name == c.name && o.url == c.url })
		switch {
		case at < 0:
			at = len(list)
			list = append(list, c)
		case list[at].text != c.text:
			list[at].text += "\n" + c.text
		}
		h.Number = at + 1
	}
	return list
}

var (
	// mark is how a text may name a place: [2], 【2】, [INDEX/ID], [NAME], or a link [NAME](URL).
	mark = regexp.MustCompile(`\[([^\[\]\n]{1,300})\](?:\(([^()\s]+)\))?|【([^】\n]{1,40})】`)
	// numbered is a mark's text of one number or more: "2", "1, 3", "source 2", "2†source".
	numbered = regexp.MustCompile(`(?i)^\^?(?:(?:sources?|documents?|docs?|passages?|hits?|refs?)\s*[:#]?\s*)?(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)(?:†.*)?$`)
	number   = regexp.MustCompile(`\d+`)
	// code is what of a text names nothing, whatever brackets it has.
	code = regexp.MustCompile("(?s)```.*?(?:```|$)|`[^`\n]*`")
)

// named returns the places that a mark names.
func named(found []citable, words, link string) (at []int) {
	if link == "" {
		if m := numbered.FindStringSubmatch(strings.TrimSpace(words)); m != nil {
			for _, n := range number.FindAllString(m[1], -1) {
				if i, err := strconv.Atoi(n); err == nil && i >= 1 && i <= len(found) && !slices.Contains(at, i-1) {
					at = append(at, i-1)
				}
			}
			return at
		}
	}
	i := slices.IndexFunc(found, func(c citable) bool {
		if link != "" {
			return c.url == link
		}
		return words == c.index+"/"+c.id || words == c.id || words == c.name || words == c.path && words != ""
	})
	if i < 0 {
		return nil
	}
	return []int{i}
}

// cite returns the places that an answer to question names by its marks, or else those that have the words
// that it uses, for the whole of it. An answer that uses none has none.
func cite(said []byte, question string, found []citable) (citations []Citation) {
	at, points := 0, 0 // so many bytes are so many code points
	codes := code.FindAllIndex(said, -1)
	for _, m := range mark.FindAllSubmatchIndex(said, -1) {
		if slices.ContainsFunc(codes, func(c []int) bool { return c[0] <= m[0] && m[0] < c[1] }) {
			continue
		}
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return string(said[m[2*i]:m[2*i+1]])
		}
		for _, i := range named(found, part(1)+part(3), part(2)) {
			if len(citations) == maxCitations {
				return citations
			}
			points += utf8.RuneCount(said[at:m[0]])
			at = m[0]
			citations = append(citations, Citation{URL: found[i].url, Title: found[i].name, Number: i + 1, From: points, To: points + utf8.RuneCount(said[m[0]:m[1]])})
		}
	}
	if len(citations) > 0 {
		return citations
	}
	whole := utf8.RuneCount(said)
	for _, i := range rests(string(said), question, found) {
		citations = append(citations, Citation{URL: found[i].url, Title: found[i].name, Number: i + 1, ByWords: true, To: whole})
	}
	return citations
}

const (
	restsOn   = 0.3 // of an answer's words that a place has at least that it rests on
	moreWords = 2   // that a further place has and those before it lack
	mostRests = 4   // places
)

// rests returns the places whose words an answer uses, those with most of them first. Words of the question
// count for nothing: an answer that says that nothing was found has them, too.
func rests(said, question string, found []citable) (places []int) {
	asked := tellingWords(question)
	words := tellingWords(said)
	for w := range asked {
		delete(words, w)
	}
	n, seen := len(words), map[string]bool{}
	has := make([]map[string]bool, len(found))
	for i := range found {
		has[i] = tellingWords(found[i].name + " " + found[i].text)
	}
	for len(places) < mostRests {
		best, most := -1, 0
		for i := range found {
			k := 0
			for w := range words {
				if has[i][w] && !seen[w] {
					k++
				}
			}
			if k > most {
				best, most = i, k
			}
		}
		if best < 0 || len(places) == 0 && float64(most) < restsOn*float64(n) || len(places) > 0 && (most < moreWords || float64(most) < restsOn*float64(n)/2) {
			return places
		}
		places = append(places, best)
		for w := range words {
			seen[w] = seen[w] || has[best][w]
		}
	}
	return places
}

// tellingWords are the words of a text but for those that only ask and those of one or two Latin letters.
func tellingWords(s string) map[string]bool {
	list := text.SplitWords(s)
	_, asking := text.AskingWords(list)
	words := map[string]bool{}
	for _, w := range list {
		short := len(w.Term) < 3 && w.Term[0] < utf8.RuneSelf && !unicode.IsDigit(rune(w.Term[0]))
		if !asking[w.Term] && !short {
			words[w.Term] = true
		}
	}
	return words
}
