package main

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// closing is how every answer ends.
const closing = "_(This is the extract provider: it quotes what a search finds, with no language model in use. For written answers set a real one: PATCH this workspace's settings with, say, {\"source\": \"openAi\", \"apiKey\": \"...\"} or {\"source\": \"vLlm\", \"baseUrl\": \"http://localhost:8000/v1\"}.)_"

const (
	maxQuotes  = 3
	maxQuote   = 600 // bytes of one
	maxNearest = 3   // titles that are named where nothing answers
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
		if names := nearestNames(c); len(names) > 0 {
			texts = append(texts, "The nearest are: "+strings.Join(names, "; ")+".")
		}
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
	return append(texts, closing)
}

// nearestNames names what was found where it does not answer the question.
func nearestNames(c conversation) (names []string) {
	for _, r := range c.results {
		for _, h := range r.hits {
			name := citeHit(r.index, h)
			if h.title != "" && h.url == "" {
				name = h.title + " " + name
			}
			if len(names) < maxNearest && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
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
