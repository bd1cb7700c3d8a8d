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
	maxPassages = 10
	maxPassage  = 400 // bytes of one
)

// A passage is a hit with its weight.
type passage struct {
	index string
	hit
	weight int
}

// answer returns the paragraphs of the answer to a question that was searched
// for.
func answer(c conversation) []string {
	passages := rank(c)
	var texts []string
	switch len(passages) {
	case 0:
		texts = append(texts, "I searched "+searchedIndexes(c)+" for “"+keywords(c.question, c.before)+"” and found nothing that answers this.")
	case 1:
		texts = append(texts, "This document answers best:")
	default:
		texts = append(texts, "These "+strconv.Itoa(len(passages))+" documents answer best:")
	}
	for _, p := range passages {
		texts = append(texts, "> "+excerpt(p.text, c.question)+" ["+p.index+"/"+p.id+"]")
	}
	for _, r := range c.results {
		if r.failure != "" {
			texts = append(texts, "The search of "+cmpOr(r.index, "an index")+" failed: "+cut(r.failure, maxPassage))
		}
	}
	return append(texts, closing)
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

// rank returns the passages to quote, best first: those that share most words
// with the question, and among equals in the order of the search. Where some
// share words, those that share far fewer than the best are left out.
func rank(c conversation) []passage {
	words := terms(keywords(c.question, c.before))
	var passages []passage
	seen := map[string]bool{}
	best := 0
	for _, r := range c.results {
		for _, h := range r.hits {
			key := r.index + "/" + h.id
			if seen[key] || strings.TrimSpace(h.text) == "" {
				continue
			}
			seen[key] = true
			p := passage{index: r.index, hit: h, weight: overlap(words, terms(h.text))}
			best = max(best, p.weight)
			passages = append(passages, p)
		}
	}
	slices.SortStableFunc(passages, func(a, b passage) int { return b.weight - a.weight })
	passages = slices.DeleteFunc(passages, func(p passage) bool { return 2*p.weight <= best && best > 0 })
	return passages[:min(len(passages), maxPassages)]
}

// terms returns the words of text in lower case.
func terms(text string) []string {
	words := split(strings.ToLower(text))
	slices.Sort(words)
	return slices.Compact(words)
}

// overlap counts the words that two sorted lists share. Words that begin alike,
// as singular and plural do, count half as much.
func overlap(question, text []string) (n int) {
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

// excerpt returns the part of text to quote, on one line: all of it, or the
// stretch that holds most words of the question.
func excerpt(text, question string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxPassage {
		return text
	}
	lower := strings.ToLower(text)
	start := 0
	for _, w := range meaning(question) {
		if i := strings.Index(lower, strings.ToLower(w)); i >= 0 {
			start = i
			break
		}
	}
	if start <= maxPassage/2 || len(lower) != len(text) {
		return cut(text, maxPassage)
	}
	start -= maxPassage / 4
	for start < len(text) && text[start] != ' ' {
		start++
	}
	return "… " + cut(strings.TrimLeft(text[start:], " "), maxPassage)
}

// cut shortens text to at most n bytes, at a space where one is near.
func cut(text string, n int) string {
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
