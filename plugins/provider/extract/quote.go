package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// chooseQuotes returns the quotes that answer a question, best first, each with its place. A result whose hits
// have little of the question gives none. Of the quotes behind the first, those are left out that have less of
// the question: they are about something else.
func chooseQuotes(c conversation) (quotes []string) {
	results := slices.DeleteFunc(slices.Clone(c.results), func(r result) bool { return r.coverage >= 0 && r.coverage < lowCoverage })
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(b.coverage, a.coverage) })
	words := sortedTerms(writeQuery(c.question, c.before))
	w := weighWords(words, results)
	best := 0.0
	for _, r := range results {
		for _, h := range inOrder(r, sortedTerms(chooseKeywords(c.question, c.before))) {
			if len(quotes) == maxQuotes {
				return quotes
			}
			text := bestStretch(h.text, w)
			worth := worthOf(h.title+" "+text, w)
			if text == "" || worth < nearBest*best {
				continue
			}
			best = max(best, worth)
			if h.title != "" && h.url == "" && h.title != text {
				text = "**" + h.title + "**\n" + text
			}
			quote := "> " + strings.ReplaceAll(text+"\n"+citeHit(r.index, h), "\n", "\n> ")
			if !slices.Contains(quotes, quote) {
				quotes = append(quotes, quote)
			}
		}
	}
	return quotes
}

// inOrder returns the hits of a result to quote, best first: in the host's order where it searched for
// passages, else those that share most words with the question.
func inOrder(r result, words []string) []hit {
	if r.coverage >= 0 {
		return r.hits
	}
	shared := func(h hit) int { return countShared(words, sortedTerms(h.text)) }
	hits := slices.Clone(r.hits)
	slices.SortStableFunc(hits, func(a, b hit) int { return shared(b) - shared(a) })
	return slices.DeleteFunc(hits, func(h hit) bool { return 2*shared(h) <= shared(hits[0]) && shared(hits[0]) > 0 })
}

// A weighted is a word of a question with what it is worth.
type weighted struct {
	word  string
	worth float64
}

// weighWords returns what each word of a question is worth: the fewer of the hits have it, the more.
func weighWords(words []string, results []result) (list []weighted) {
	has, n := map[string]int{}, 0
	for _, r := range results {
		for _, h := range r.hits {
			n++
			in := sortedTerms(h.title + " " + h.text)
			for _, w := range words {
				if countShared([]string{w}, in) > 0 {
					has[w]++
				}
			}
		}
	}
	for _, w := range words {
		list = append(list, weighted{w, math.Log(1 + (float64(n-has[w])+0.5)/(float64(has[w])+0.5))})
	}
	return list
}

// worthOf is what the words of a question are worth that text has.
func worthOf(text string, words []weighted) (worth float64) {
	in := sortedTerms(text)
	for _, w := range words {
		worth += w.worth * float64(countShared([]string{w.word}, in)) / 2
	}
	return worth
}

// bestStretch returns the run of whole lines and sentences of text, of at most maxQuote bytes, that is worth
// most, and the shortest such, with what follows and precedes as far as it has room.
func bestStretch(text string, words []weighted) string {
	text = strings.TrimSpace(text)
	if len(text) <= maxQuote {
		return text
	}
	parts := splitSentences(text)
	in := make([][]string, len(parts))
	for i, p := range parts {
		in[i] = sortedTerms(p)
	}
	best, least, from, to := -1.0, 0, 0, 1
	for i := range parts {
		worth, size := 0.0, 0
		seen := make([]bool, len(words))
		for k := i; k < len(parts); k++ {
			if size += len(parts[k]); size > maxQuote && k > i {
				break
			}
			for i, w := range words {
				if n := countShared([]string{w.word}, in[k]); n > 0 && !seen[i] {
					seen[i] = true
					worth += w.worth * float64(n) / 2
				}
			}
			if worth > best+1e-9 || worth > best-1e-9 && size < least {
				best, least, from, to = worth, size, i, k+1
			}
		}
	}
	size := least
	for to < len(parts) && size+len(parts[to]) <= maxQuote {
		size += len(parts[to])
		to++
	}
	for from > 0 && size+len(parts[from-1]) <= maxQuote {
		from--
		size += len(parts[from])
	}
	return cutText(strings.TrimSpace(strings.Join(parts[from:to], "")), maxQuote)
}

// splitSentences cuts a text behind each line and each sentence.
func splitSentences(text string) (parts []string) {
	start := 0
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '\n' || (text[i] == '.' || text[i] == '!' || text[i] == '?') && text[i+1] == ' ' {
			parts = append(parts, text[start:i+1])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// sortedTerms returns the words of text in lower case, sorted.
func sortedTerms(text string) []string {
	words := splitWords(strings.ToLower(text))
	slices.Sort(words)
	return slices.Compact(words)
}

// countShared counts the words that two sorted lists share, each as 2. Words that begin alike, as singular
// and plural do, count as 1.
func countShared(question, text []string) (n int) {
	for _, q := range question {
		if _, found := slices.BinarySearch(text, q); found {
			n += 2
			continue
		}
		if len(q) <= 4 {
			continue
		}
		stem := q[:max(4, len(q)-2)]
		if i, _ := slices.BinarySearch(text, stem); i < len(text) && strings.HasPrefix(text[i], stem) {
			n++
		}
	}
	return n
}
