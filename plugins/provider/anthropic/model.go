package main

import "strings"

// A family is what a model's name tells of it: 4.6 is 406. Models that are not
// Claude, behind another baseUrl, have version 0 and get what the API has taken
// the longest; a Claude without a number counts as the newest.
type family int

const newest family = 9999

// familyOf reads names such as claude-sonnet-4-6, claude-3-5-haiku-20241022,
// claude-haiku-4.5 and anthropic/claude-opus-4-1@20250805.
func familyOf(model string) family {
	_, rest, ok := strings.Cut(model, "claude")
	if !ok {
		return 0
	}
	var numbers []int
	for word := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune("-._@:", r) }) {
		n, size := 0, len(word)
		for _, c := range word {
			if c < '0' || c > '9' || size > 2 { // a word, or a date
				size = 0
				break
			}
			n = n*10 + int(c-'0')
		}
		if size > 0 {
			numbers = append(numbers, n)
		} else if len(numbers) > 0 {
			break
		}
	}
	switch len(numbers) {
	case 0:
		return newest
	case 1:
		return family(numbers[0] * 100)
	}
	return family(numbers[0]*100 + numbers[1])
}

// maxTokens is the limit for requests that set none. The API demands one; these
// are what every model of the family can write.
func (f family) maxTokens() int64 {
	switch {
	case f >= 307:
		return 32_000
	case f > 0 && f < 305:
		return 4096
	}
	return 8192
}

// adaptive reports whether a model decides itself how much to think, and takes
// an effort; the ones before take a budget of tokens.
func (f family) adaptive() bool { return f >= 406 }

// thinks reports whether a model can think at all.
func (f family) thinks() bool { return f == 0 || f >= 307 }

// summarises reports whether the text of the thinking must be asked for.
func (f family) summarises() bool { return f >= 407 }

// samples reports whether a model takes temperature, top_p and top_k.
func (f family) samples() bool { return f < 407 }

// samplesByOne reports whether a model refuses temperature and top_p together.
func (f family) samplesByOne() bool { return f >= 401 }

// constrained reports whether a model can be held to a schema.
func (f family) constrained() bool { return f >= 405 }

// answersByTool reports whether a model answers in a format by calling a tool. Claude's
// models from before the API had formats do. The newest refuse a forced tool, and of other
// makers' models it is not known.
func (f family) answersByTool() bool { return f > 0 && !f.constrained() }
