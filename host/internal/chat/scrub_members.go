package chat

import (
	"bytes"
	"hash/maphash"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/base/secret"
)

// maxScrubbedPaths bounds the paths whose strings are followed from event to event.
const maxScrubbedPaths = 64

// A memberScrub finds secrets in the members that go to the client as the provider
// said them. As a text does, the strings at one path go on from value to value and
// from item to item: what a provider says of tokens has a string for each. Its zero
// value is ready.
type memberScrub struct {
	at map[uint64]*secret.Stream // by the hash of a path
}

// holds reports whether a value, checked JSON or nothing, has one of the secrets in
// it, goes on with one, or ends with the first bytes of one, six or more.
func (s *memberScrub) holds(secrets *secret.Scrubber, value []byte) bool {
	if secrets == nil || len(value) == 0 {
		return false
	}
	found := secrets.Find(value) >= 0
	eachString(value, func(path uint64, quoted []byte, isName bool) {
		text := []byte(rawjson.Unquote(quoted))
		if isName {
			found = found || secrets.Find(text) >= 0
		} else if shown := s.of(path, secrets).Next(text); !bytes.Equal(shown, text) {
			found = true
		}
	})
	return found
}

// of is what follows the strings at path.
func (s *memberScrub) of(path uint64, secrets *secret.Scrubber) *secret.Stream {
	one, ok := s.at[path]
	if !ok {
		one = new(secrets.Stream())
		if s.at == nil {
			s.at = map[uint64]*secret.Stream{}
		}
		if len(s.at) < maxScrubbedPaths {
			s.at[path] = one
		}
	}
	return one
}

// pathSeed keeps providers from choosing what paths hash to.
var pathSeed = maphash.MakeSeed()

// eachString calls f for the strings of v, checked JSON, with the hash of their path, and
// for its names. The items of an array have its own path. It crosses v once, however
// deep that is.
func eachString(v []byte, f func(path uint64, quoted []byte, isName bool)) {
	var path uint64
	var outer []uint64 // paths of the containers that are open
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '{', '[':
			outer = append(outer, path)
		case '}', ']':
			path, outer = outer[len(outer)-1], outer[:len(outer)-1]
		case '"':
			from := i
			for i++; v[i] != '"'; i++ {
				if v[i] == '\\' {
					i++
				}
			}
			quoted := v[from : i+1]
			rest := bytes.TrimLeft(v[i+1:], " \t\r\n")
			isName := len(rest) > 0 && rest[0] == ':'
			if isName {
				path = maphash.Comparable(pathSeed, member{outer[len(outer)-1], rawjson.Unquote(quoted)})
			}
			f(path, quoted, isName)
		}
	}
}

// A member is a name within a path.
type member struct {
	path uint64
	name string
}
