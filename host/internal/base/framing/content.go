package framing

import "strings"

type contentType uint8

const (
	contentOther contentType = iota
	contentSSE
	contentJSON
	contentHTML
	contentAWS
)

// contentKind sorts a Content-Type header.
func contentKind(header string) contentType {
	name, _, _ := strings.Cut(header, ";")
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "text/event-stream":
		return contentSSE
	case "application/vnd.amazon.eventstream":
		return contentAWS
	case "text/html", "application/xhtml+xml":
		return contentHTML
	case "application/json", "application/x-ndjson", "application/ndjson", "application/jsonl", "application/jsonlines", "application/json-lines":
		return contentJSON
	}
	if strings.HasSuffix(name, "+json") {
		return contentJSON
	}
	return contentOther
}
