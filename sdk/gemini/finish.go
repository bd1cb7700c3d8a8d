package gemini

import "strings"

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

// finishOf reads Gemini's words. STOP ends turns with calls, too. known is false of
// one that may mean anything: recorded answers that ended with OTHER are whole, so it
// is taken for stop, and told.
func finishOf(word string) (f finish, known bool) {
	switch word {
	case "STOP":
		return finishStop, true
	case "MAX_TOKENS":
		return finishLength, true
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR", "JAILBREAK":
		return finishFilter, true
	}
	switch {
	case strings.HasPrefix(word, "IMAGE_"):
		return finishFilter, true
	case strings.HasPrefix(word, "MALFORMED_"), strings.Contains(word, "_CALL"), strings.Contains(word, "THOUGHT_SIGNATURE"):
		return finishBadCall, true
	}
	return finishStop, false
}
