package main

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// closing is how the first answer of a conversation ends.
const closing = "_(Quoted by extract, without a language model. The workspace's setting `source` names one.)_"

const (
	maxQuotes = 3
	maxQuote  = 850  // bytes of one
	enough    = 0.95 // of the question's words, by worth: a quote that has them stands alone
	nearBest  = 0.5  // of what the first quote has of the question, that another one has at least
	maxNamed  = 200  // bytes of a question that is named
	// mostCovered is from where on an answer has so much of the question that what it lacks is not named.
	mostCovered   = 0.7
	fewestLetters = 3   // of a word whose lack is named
	mostAbsent    = 3   // such words
	maxFailure    = 400 // bytes of what a search says of itself
	// lowCoverage is the part of a question that an answer has at least. The host tells a model of the same
	// bound.
	lowCoverage = 0.40
)

// answerParagraphs returns the paragraphs of the answer to a question that was searched for.
func answerParagraphs(c conversation) []string {
	results, asked := answeringResults(c), sortedTerms(c.asked)
	w := weighWords(asked, results)
	texts := listRecords(results, asked, w)
	if texts == nil {
		texts = quoteParagraphs(c, results, asked, w)
	}
	for _, r := range c.results {
		if r.failure != "" {
			texts = append(texts, "The search of "+cmpOr(r.index, "an index")+" failed: "+cutText(r.failure, maxFailure))
		}
	}
	return endAnswer(c, texts...)
}

// quoteParagraphs returns the paragraphs of an answer that quotes passages.
func quoteParagraphs(c conversation, results []result, asked []string, w []weighted) []string {
	quotes, absent := chooseQuotes(results, asked, w), absentWords(c.asked, results)
	first := "These " + strconv.Itoa(len(quotes)) + " passages may answer:"
	switch {
	case len(quotes) == 0:
		return []string{"I searched " + searchedIndexes(c) + " for “" + cutText(writeQuery(c.asked), maxNamed) + "” and found nothing that answers this."}
	case len(absent) > 0:
		first = "No passage has “" + strings.Join(absent, "”, “") + "”. The nearest:"
	case len(quotes) == 1:
		first = "This passage answers best:"
	}
	texts := []string{first}
	for i := range quotes {
		texts = append(texts, quotes[i].format())
	}
	return texts
}

// endAnswer adds to the paragraphs of an answer what the first one ends with.
func endAnswer(c conversation, texts ...string) []string {
	if c.answered {
		return texts
	}
	return append(texts, closing)
}

// format writes a quote with its place below.
func (q *quote) format() string {
	return "> " + strings.ReplaceAll(q.text+"\n"+q.cite(), "\n", "\n> ")
}

// cite names the place of a quote: its title, with the heading that holds it, and the number that the host
// cites it by.
func (q *quote) cite() string {
	name := strings.ReplaceAll(q.title, " > ", " › ")
	if q.heading != "" && !strings.HasSuffix(name, q.heading) {
		file, _, _ := strings.Cut(name, " › ")
		name = file + " › " + q.heading
	}
	name = strings.NewReplacer("[", "(", "]", ")").Replace(name)
	switch {
	case q.url != "" && name != "":
		return "— [" + name + "](" + q.url + ")"
	case q.number > 0:
		return strings.TrimSpace("— "+name) + " [" + strconv.Itoa(q.number) + "]"
	case name != "":
		return "— " + name
	}
	return "[" + q.index + "/" + q.id + "]"
}

// searchedIndexes names the indexes that were searched.
func searchedIndexes(c conversation) string {
	var names []string
	for _, r := range c.results {
		if r.index != "" && !slices.Contains(names, r.index) {
			names = append(names, r.index)
		}
	}
	return cmpOr(strings.Join(names, ", "), "the index")
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// cutText shortens text to at most n bytes, at a space where one is near.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	if i := strings.LastIndexByte(text[:n], ' '); i > n/2 {
		n = i
	}
	return text[:n] + " …"
}
