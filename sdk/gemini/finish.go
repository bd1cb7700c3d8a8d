package gemini

import (
	"strings"

	"github.com/parley-search/parley/sdk/provider"
)

// finish is a finish reason that was seen and not written yet.
type finish uint8

const (
	finishNone finish = iota
	finishStop
	finishLength
	finishFilter
	finishBadCall
)

// String returns OpenAI's word for f.
func (f finish) String() string {
	switch f {
	case finishLength:
		return "length"
	case finishFilter:
		return "content_filter"
	}
	return "stop"
}

// finishOf reads Gemini's words. STOP ends turns with calls, too. One that is
// not known means stop: new ones appear, and an answer is an answer.
func finishOf(word string) finish {
	switch word {
	case "STOP":
		return finishStop
	case "MAX_TOKENS":
		return finishLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR", "JAILBREAK":
		return finishFilter
	}
	switch {
	case strings.HasPrefix(word, "IMAGE_"):
		return finishFilter
	case strings.HasPrefix(word, "MALFORMED_"), strings.Contains(word, "_CALL"), strings.Contains(word, "THOUGHT_SIGNATURE"):
		return finishBadCall
	}
	provider.Log(provider.LevelWarn, "taken for stop: finishReason "+word[:min(len(word), 64)])
	return finishStop
}
