package framing

import "testing"

func TestContentKind(t *testing.T) {
	for header, want := range map[string]contentType{
		"text/event-stream": contentSSE, "Text/Event-Stream; charset=utf-8": contentSSE, "application/json;x": contentJSON,
		"application/problem+json": contentJSON, "application/x-ndjson": contentJSON, "text/html": contentHTML, "": contentOther,
		"text/plain": contentOther,
	} {
		if got := contentKind(header); got != want {
			t.Errorf("contentKind(%q) = %d, want %d", header, got, want)
		}
	}
}
