package main

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// chooseKeywords returns what a keyword search should look for: the words of the
// question that carry its meaning, names and numbers first, since engines drop
// words from the end where not all of them match. A question that leans on the
// one before ("and in 1999?", "who played in it?") takes that one's words, too.
func chooseKeywords(question, before string) string {
	words := meaningWords(question)
	if before != "" && (len(words) == 0 || leansOnBefore(question)) {
		words = append(words, meaningWords(before)...)
	}
	const most = 10
	seen := map[string]bool{}
	var kept []string
	for _, w := range words {
		if key := strings.ToLower(w); !seen[key] && len(kept) < most {
			seen[key] = true
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		return strings.Join(splitWords(question), " ")
	}
	return strings.Join(kept, " ")
}

// writeQuery returns what is searched for: the keywords and, behind them, the other words of the question.
// A host that searches for passages weighs all of them; one that does not drops words from the end.
func writeQuery(question, before string) string {
	words := strings.Fields(chooseKeywords(question, before))
	for _, w := range splitWords(question) {
		if !slices.ContainsFunc(words, func(k string) bool { return strings.EqualFold(k, w) }) && len(words) < maxQueryWords {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// maxQueryWords bounds the words that are searched for.
const maxQueryWords = 40

// isGreeting reports whether a text greets or thanks, and asks nothing.
func isGreeting(text string) bool {
	words := splitWords(strings.ToLower(text))
	return slices.ContainsFunc(words, func(w string) bool { return greetings[w] }) && !slices.ContainsFunc(words, func(w string) bool { return !greetings[w] && !stresses[w] })
}

// withoutGreeting returns what is asked behind a greeting: "Hi, who directed it?".
func withoutGreeting(text string) string {
	if at := strings.IndexAny(text, ",.!;:\n"); at > 0 && isGreeting(text[:at]) {
		if rest := strings.TrimLeft(text[at:], ",.!;: \n"); len(splitWords(rest)) > 0 {
			return rest
		}
	}
	return text
}

var greetings = newWordSet(`hello hi hey there good morning afternoon evening day thanks thank you bye goodbye
	hallo guten tag morgen abend danke dank bonjour salut merci hola buenos dias gracias ciao grazie`)

// Words that go with thanks.
var stresses = newWordSet(`a lot so much very many again all everyone for your the help sehr schön vielen beaucoup muchas mille`)

// meaningWords returns the words of text that are not small talk: names and numbers
// first, else in order.
func meaningWords(text string) []string {
	var names, others []string
	for i, w := range splitWords(text) {
		r, _ := utf8.DecodeRuneInString(w)
		lower := strings.ToLower(w)
		switch {
		case unicode.IsDigit(r), i > 0 && unicode.IsUpper(r) && !questionWords[lower] && lower != "i":
			names = append(names, w)
		case stopWords[lower] || questionWords[lower] || fillers[lower]:
		case utf8.RuneCountInString(w) > 1 || !isASCII(w):
			others = append(others, w)
		}
	}
	return append(names, others...)
}

// leansOnBefore reports whether a question only makes sense after the one before it.
func leansOnBefore(question string) bool {
	words := splitWords(question)
	for i, w := range words {
		switch strings.ToLower(w) {
		case "and", "und", "et", "y":
			if i == 0 {
				return true
			}
		case "it", "its", "they", "them", "their", "he", "him", "his", "she", "her", "those", "these", "that":
			return true
		}
	}
	return false
}

// splitWords cuts text into words; a hyphen or an apostrophe inside one stays.
func splitWords(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\'' && r != '’' && r != '-'
	})
	kept := words[:0]
	for _, w := range words {
		w = strings.Trim(w, "'’-")
		for _, s := range [...]string{"'s", "’s"} {
			w = strings.TrimSuffix(w, s)
		}
		if w != "" {
			kept = append(kept, w)
		}
	}
	return kept
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// newWordSet makes a set of the words in a text.
func newWordSet(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// Words that ask, in the languages that are met most.
var questionWords = newWordSet(`
	what which who whom whose when where why how whats wheres whos
	was welche welcher welches welchen wer wen wem wessen wann wo warum wie
	que quel quelle quels quelles qui quand où pourquoi comment quoi
	qué cuál cuáles quién quiénes cuándo dónde cómo cuánto cuántos
	che quale quali chi dove perché come quanto quanti`)

// Words that are in every text.
var stopWords = newWordSet(`
	a an the this that these those some any all both each every no not only
	i me my we us our you your he him his she her it its they them their
	is are was were be been being am do does did done doing has have had having
	can could may might must shall should will would
	and or but if then than so as of at by for from in into on onto over to with without within about
	between during after before under above up down out off there here just also too very more most
	don't doesn't didn't isn't aren't wasn't weren't can't i'm
	der die das den dem des ein eine einen einem einer und oder ist sind hat haben von mit für im in zu auf
	le la les un une des du de et ou est sont a ont par pour dans sur avec
	el los las una unos unas y o es son ha han por para en con del
	il lo gli i uno e sono di da con per nel`)

// Words that tell what to do, or name things as a search shows them anyway.
var fillers = newWordSet(`
	please tell show give find list name search look know want need like explain describe
	film films movie movies document documents article articles entry entries record records item items
	direct directs directed write writes wrote written make makes made star stars starred play plays played
	called named many much kind sort type example examples something anything information info
	bitte zeige nenne finde suche liste dokumente filme
	montre trouve cherche donne documents liste`)
