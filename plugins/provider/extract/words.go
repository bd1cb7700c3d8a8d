package main

import (
	"slices"
	"strings"
	"unicode"
)

// writeQuery returns what is searched for: the question on one line. The host weighs its words, and adds those of
// the question before that it goes on from.
func writeQuery(question string) string {
	return strings.Join(strings.Fields(cutText(question, maxQuery)), " ")
}

// maxQuery bounds what is searched for, in bytes.
const maxQuery = 1000

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

// splitWords cuts text into words; a hyphen, an apostrophe, or what parts the digits of a number stays inside one.
func splitWords(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\'' && r != '’' && r != '-' && r != '.' && r != ','
	})
	kept := make([]string, 0, len(words))
	for _, word := range words {
		parts := []string{word}
		if strings.ContainsAny(word, ".,") && strings.Trim(word, "0123456789.,'’-") != "" { // no number
			parts = strings.FieldsFunc(word, func(r rune) bool { return r == '.' || r == ',' })
		}
		for _, w := range parts {
			w = strings.Trim(w, "'’-.,")
			for _, s := range [...]string{"'s", "’s"} {
				w = strings.TrimSuffix(w, s)
			}
			if w != "" {
				kept = append(kept, w)
			}
		}
	}
	return kept
}

// newWordSet makes a set of the words in a text.
func newWordSet(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// Words that ask, or that are in every text, in the languages that are met most: they say little of what is asked.
var stopWords = newWordSet(`
	what which who whom whose when where why how whats wheres whos
	was welche welcher welches welchen wer wen wem wessen wann wo warum wie
	que quel quelle quels quelles qui quand où pourquoi comment quoi
	qué cuál cuáles quién quiénes cuándo dónde cómo cuánto cuántos
	che quale quali chi dove perché come quanto quanti
	a an the this that these those some any all both each every no not only
	i me my we us our you your he him his she her it its they them their
	is are was were be been being am do does did done doing has have had having
	can could may might must shall should will would
	and or but if then than so as of at by for from in into on onto over to with without within about
	between during after before under above up down out off there here just also too very more most
	don't doesn't didn't isn't aren't wasn't weren't can't i'm please tell show give find
	der die das den dem des ein eine einen einem einer und oder ist sind hat haben von mit für im in zu auf
	le la les un une des du de et ou est sont a ont par pour dans sur avec
	el los las una unos unas y o es son ha han por para en con del
	il lo gli i uno e sono di da con per nel`)
