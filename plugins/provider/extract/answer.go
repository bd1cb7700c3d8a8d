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
	maxQuotes  = 3
	maxQuote   = 600 // bytes of one
	nearBest   = 0.8 // of what the best quote has of the question, that another one has at least
	maxFailure = 400 // bytes of what a search says of itself
	// lowCoverage is the part of a question that an answer has at least. The host tells a model of the same
	// bound.
	lowCoverage = 0.37
)

// answerParagraphs returns the paragraphs of the answer to a question that was searched for.
func answerParagraphs(c conversation) []string {
	var texts []string
	switch quotes := chooseQuotes(c); len(quotes) {
	case 0:
		texts = append(texts, "I searched "+searchedIndexes(c)+" for “"+chooseKeywords(c.question, c.before)+"” and found nothing that answers this.")
	case 1:
		texts = append(texts, "This passage answers best:", quotes[0])
	default:
		texts = append(append(texts, "These "+strconv.Itoa(len(quotes))+" passages answer best:"), quotes...)
	}
	for _, r := range c.results {
		if r.failure != "" {
			texts = append(texts, "The search of "+cmpOr(r.index, "an index")+" failed: "+cutText(r.failure, maxFailure))
		}
	}
	return endAnswer(c, texts...)
}

// endAnswer adds to the paragraphs of an answer what the first one ends with.
func endAnswer(c conversation, texts ...string) []string {
	if c.answered {
		return texts
	}
	return append(texts, closing)
}

// citeHit names the place of a hit.
func citeHit(index string, h hit) string {
	if h.url != "" && h.title != "" {
		return "[" + strings.NewReplacer("[", "(", "]", ")").Replace(h.title) + "](" + h.url + ")"
	}
	return "[" + index + "/" + h.id + "]"
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
