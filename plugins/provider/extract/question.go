package main

import (
	"regexp"
	"strings"
)

// What frameworks put around a question, each seen in what a client sent: elements of their own, fields, and
// labels on a line.
var (
	element = regexp.MustCompile(`<([a-z]+(?:[-_][a-z]+)+|context|documents|instructions)>`)
	field   = regexp.MustCompile(`(?is)\[\[ ## (?:question|query|input) ## \]\]\s*(.*?)\s*(?:\[\[ ##|\z)`)
	task    = regexp.MustCompile(`(?is)\bcurrent task:\s*(.*?)\s*(?:\n\s*\n|\n*this is the expected criteria|\n*begin!|\z)`)
	label   = regexp.MustCompile(`(?im)^\s*(?:user(?:'s)? )?(?:question|query)\s*:\s*(.+?)\s*$`)
	manner  = regexp.MustCompile(`(?i)^(?:please )?(?:reply|answer|respond|be|keep|use only|write|think|return|do not|don't|cite|format|let's)\b[^?]*$`)
)

// askedText returns what of a message asks: without what a framework puts around it, and without sentences
// behind a question that only say how to answer it. What has nothing of that is returned as it is.
func askedText(text string) string {
	if rest := strings.TrimSpace(withoutElements(text)); rest != "" {
		text = rest
	}
	for _, form := range []*regexp.Regexp{field, task} {
		if m := form.FindStringSubmatch(text); m != nil && m[1] != "" {
			return withoutManner(m[1])
		}
	}
	if all := label.FindAllStringSubmatch(text, -1); all != nil && strings.Count(text, "\n") > 0 {
		return withoutManner(all[len(all)-1][1])
	}
	return withoutManner(text)
}

// withoutElements cuts out the elements of text whose names are a framework's.
func withoutElements(text string) string {
	var b strings.Builder
	for {
		m := element.FindStringSubmatchIndex(text)
		if m == nil {
			break
		}
		end := "</" + text[m[2]:m[3]] + ">"
		at := strings.Index(text[m[1]:], end)
		if at < 0 {
			break
		}
		b.WriteString(text[:m[0]])
		text = text[m[1]+at+len(end):]
	}
	return b.String() + text
}

// withoutManner cuts off the sentences behind the last question that say how to answer.
func withoutManner(text string) string {
	parts := splitSentences(text)
	last := len(parts)
	for last > 0 && manner.MatchString(strings.TrimSpace(parts[last-1])) {
		last--
	}
	if rest := strings.TrimSpace(strings.Join(parts[:last], "")); strings.HasSuffix(rest, "?") {
		return rest
	}
	return text
}
