package chat

import (
	"bytes"
	"encoding/json"

	"github.com/parley-search/parley/host/internal/rawjson"
	"github.com/parley-search/parley/host/internal/secret"
)

// A streamScrub takes the workspace's key out of a text that comes in pieces,
// wherever these end. It passes on what it cannot be part of a key at once, and
// the first bytes of what may be one, fewer than minScrubbed; the rest it holds
// until it is known. Its zero value lets everything through.
type streamScrub struct {
	key   string
	falls []int // by n: the longest end of key[:n] that it begins with, shorter than n
	n     int   // so much of key is what the text ends with
}

func newStreamScrub(key string) streamScrub {
	if len(key) < minScrubbed {
		return streamScrub{}
	}
	s := streamScrub{key: key, falls: make([]int, len(key)+1)}
	for n, k := 2, 0; n <= len(key); n++ {
		for k > 0 && key[k] != key[n-1] {
			k = s.falls[k]
		}
		if key[k] == key[n-1] {
			k++
		}
		s.falls[n] = k
	}
	return s
}

// passed is how many bytes of a beginning of the key were passed on.
func passed(n int) int { return min(n, minScrubbed-1) }

// next returns what may be shown of the text with its next piece.
func (s *streamScrub) next(piece []byte) []byte {
	if s.key == "" || s.n == 0 && bytes.IndexByte(piece, s.key[0]) < 0 {
		return piece
	}
	out := make([]byte, 0, len(piece)+len(secret.Redacted))
	for _, c := range piece {
		for s.n > 0 && s.key[s.n] != c {
			fallen := s.falls[s.n]
			out = append(out, s.key[passed(s.n):s.n-fallen+passed(fallen)]...)
			s.n = fallen
		}
		if s.key[s.n] != c {
			out = append(out, c)
			continue
		}
		if s.n++; s.n < minScrubbed {
			out = append(out, c)
		}
		if s.n == len(s.key) {
			out = append(out, secret.Redacted...)
			s.n = 0
		}
	}
	return out
}

// end returns what the text ends with: half a key is as good as taken out.
func (s *streamScrub) end() []byte {
	held := s.n >= minScrubbed
	s.n = 0
	if !held {
		return nil
	}
	return []byte(secret.Redacted)
}

// hasKey reports whether a JSON value holds the key, in whatever way that is
// escaped.
func (s *streamScrub) hasKey(value []byte) bool {
	if s.key == "" || len(value) == 0 {
		return false
	}
	if bytes.IndexByte(value, '\\') >= 0 {
		var v any
		if json.Unmarshal(value, &v) != nil {
			return true
		}
		var plain bytes.Buffer
		e := json.NewEncoder(&plain)
		e.SetEscapeHTML(false)
		if e.Encode(v) != nil {
			return true
		}
		value = plain.Bytes()
	}
	return bytes.Contains(value, []byte(s.key)) || bytes.Contains(value, rawjson.AppendEscaped(nil, s.key))
}
