package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A quote is what answers of a hit.
type quote struct {
	hit
	index   string
	heading string // of the section that it is of; empty: the hit names none
	text    string
	worth   float64 // what it has of the question's words
}

// answeringResults returns the results whose hits have enough of the question, those that have most first.
func answeringResults(c conversation) []result {
	results := slices.DeleteFunc(slices.Clone(c.results), func(r result) bool { return r.coverage >= 0 && r.coverage < lowCoverage })
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(b.coverage, a.coverage) })
	return results
}

// chooseQuotes returns the quote that answers a question, whose words w are. Where it lacks much of the question,
// others of other places that are about as good follow.
func chooseQuotes(results []result, asked []string, w []weighted) (quotes []quote) {
	whole := 0.0
	for _, x := range w {
		whole += x.worth
	}
	for _, r := range results {
		for _, h := range inOrder(r, tellingTerms(asked)) {
			q := quoteHit(r.index, h, w)
			if q.text == "" || slices.ContainsFunc(quotes, func(o quote) bool { return !q.isOther(&o) }) || len(quotes) > 0 && q.worth < nearBest*quotes[0].worth {
				continue
			}
			quotes = append(quotes, q)
			if quotes[0].worth >= enough*whole || len(quotes) == maxQuotes {
				return quotes
			}
		}
	}
	return quotes
}

// isOther reports whether a quote is of another place than the first one.
func (q *quote) isOther(first *quote) bool {
	return q.text != first.text && (q.id != first.id || q.title != first.title || q.heading != first.heading)
}

// fewSections are those of a hit that is quoted whole: its sections are about one matter.
const fewSections = 2

// quoteHit quotes a hit, or of one that is long or has many sections the section with most of the question.
func quoteHit(index string, h hit, words []weighted) quote {
	best := quote{hit: h, index: index, worth: -1}
	sections := cutSections(h.text)
	if len(h.text) <= maxQuote && len(sections) <= fewSections {
		sections = []section{{"", h.text}}
	}
	for _, s := range sections {
		text := bestStretch(s.text, words)
		if worth := worthOf(h.title+" "+s.heading+" "+text, words); text != "" && worth > best.worth {
			best.heading, best.text, best.worth = s.heading, text, worth
		}
	}
	return best
}

// A section is a part of a passage below one heading.
type section struct{ heading, text string }

// maxHeading bounds the words of a line that is a heading.
const maxHeading = 9

// cutSections cuts the text of a passage at the headings of short sections that joined it: lines behind a blank
// one, with text right below.
func cutSections(text string) (list []section) {
	var s section
	start, at := 0, 0
	end := func() {
		if s.text = strings.TrimSpace(text[start:at]); s.text != "" {
			list = append(list, s)
		}
	}
	for line := range strings.Lines(text) {
		below := text[at+len(line):]
		if strings.HasSuffix(text[:at], "\n\n") && isHeading(line) && below != "" && !strings.HasPrefix(below, "\n") {
			end()
			start, s.heading = at+len(line), strings.TrimSpace(line)
			if i := strings.LastIndex(s.heading, " > "); i >= 0 {
				s.heading = s.heading[i+len(" > "):]
			}
		}
		at += len(line)
	}
	end()
	return list
}

// isHeading reports whether a line reads as a heading: a few words that begin as one does, and no sentence, item
// or code.
func isHeading(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	line = strings.TrimSpace(line)
	return (unicode.IsUpper(r) || unicode.IsDigit(r) || unicode.IsLetter(r) && !unicode.IsLower(r)) &&
		len(strings.Fields(line)) <= maxHeading && !strings.ContainsAny(line[len(line)-1:], ".:;,|`") && !strings.Contains(line, "  ")
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

// absentWords returns the first words of a question, as they are written, that no hit of results has, where these
// have not most of it otherwise.
func absentWords(question string, results []result) (absent []string) {
	if len(results) == 0 || results[0].coverage < 0 || results[0].coverage >= mostCovered {
		return nil
	}
	var terms [][]string // of each hit
	for _, r := range results {
		for _, h := range r.hits {
			terms = append(terms, sortedTerms(h.title+" "+h.text))
		}
	}
	for _, w := range splitWords(question) {
		term := strings.ToLower(w)
		if stopWords[term] || utf8.RuneCountInString(term) < fewestLetters || slices.ContainsFunc(absent, func(a string) bool { return strings.EqualFold(a, w) }) {
			continue
		}
		if !slices.ContainsFunc(terms, func(of []string) bool { return countShared([]string{term}, of) > 0 }) {
			if absent = append(absent, w); len(absent) == mostAbsent {
				break
			}
		}
	}
	return absent
}

// tellingTerms are words without those that say little, or all of them where there are no others.
func tellingTerms(words []string) []string {
	if telling := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return stopWords[w] }); len(telling) > 0 {
		return telling
	}
	return words
}

// A weighted is a word of a question with what it is worth.
type weighted struct {
	word  string
	worth float64
}

// ofStop is what a word counts that says little of what is asked.
const ofStop = 0.3

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
		x := weighted{w, math.Log(1 + (float64(n-has[w])+0.5)/(float64(has[w])+0.5))}
		switch {
		case strings.ContainsAny(w, "0123456789"): // who names a number asks about it
			x.worth *= 2
		case stopWords[w]:
			x.worth *= ofStop
		}
		list = append(list, x)
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

// bestStretch returns the run of units of text, of at most maxQuote bytes, that is worth most, and the shortest
// such, with what follows and precedes as far as it has room. Rows of a table come with its head.
func bestStretch(text string, words []weighted) string {
	text = strings.TrimSpace(text)
	if len(text) <= maxQuote {
		return text
	}
	parts := splitUnits(text)
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
	head := ""
	if top := tableTop(parts, from); top >= 0 {
		head = parts[top] + parts[top+1]
	}
	size := least + len(head)
	for head == "" && to < len(parts) && size+len(parts[to]) <= maxQuote {
		size += len(parts[to])
		to++
	}
	for head == "" && from > 0 && size+len(parts[from-1]) <= maxQuote {
		from--
		size += len(parts[from])
	}
	quoted := strings.TrimSpace(head + strings.Join(parts[from:to], ""))
	if len(quoted) <= maxUnit || to > from+1 {
		return quoted
	}
	return cutText(quoted, maxUnit)
}

// maxUnit bounds a unit that is quoted whole though it is longer than a quote, as code is.
const maxUnit = 1200

// tableTop returns where the two rows are that are the head of the table in which the unit at is a row; -1 where
// it is none, or of the head itself.
func tableTop(parts []string, at int) int {
	isRow := func(i int) bool { return strings.HasPrefix(parts[i], "|") }
	top := at
	for top > 0 && isRow(top) && isRow(top-1) {
		top--
	}
	if !isRow(at) || at <= top+1 || strings.Trim(parts[top+1], "|-: \n") != "" {
		return -1
	}
	return top
}

// splitUnits cuts a text into what is quoted whole: sentences, lines, and code between fences.
func splitUnits(text string) (parts []string) {
	rest := text
	for rest != "" {
		block := rest
		if fence := "```"; strings.HasPrefix(rest, fence) {
			if i := strings.Index(rest[len(fence):], "\n"+fence); i >= 0 {
				at := len(fence) + i + 1 + len(fence)
				if n := strings.IndexByte(rest[at:], '\n'); n >= 0 {
					at += n + 1
				} else {
					at = len(rest)
				}
				parts, rest = append(parts, rest[:at]), rest[at:]
				continue
			}
		}
		if i := strings.Index(rest[1:], "\n```"); i >= 0 {
			i++
			block = rest[:i+1]
		}
		parts = append(parts, splitSentences(block)...)
		rest = rest[len(block):]
	}
	return parts
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
		if len(q) <= 4 || strings.ContainsAny(q, "0123456789") { // P-0421 is no form of P-0400
			continue
		}
		stem := q[:max(4, len(q)-2)]
		if i, _ := slices.BinarySearch(text, stem); i < len(text) && strings.HasPrefix(text[i], stem) {
			n++
		}
	}
	return n
}
