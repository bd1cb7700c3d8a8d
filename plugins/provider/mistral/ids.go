package main

import "github.com/parley-search/parley/sdk/rawjson"

// idLen is how long an id of a tool call is, in letters and digits of ASCII.
const idLen = 9

// ids gives tool calls ids that Mistral takes. One that fits stays; any other
// is made of its bytes, so that it is the same in every round and request.
type ids struct {
	messages rawjson.Value
	used     map[string]bool // given out
	reserved map[string]bool // to calls that have one that fits; nil until one is made
}

// give returns the id for a call whose client calls it id: one that no other
// call of the request has.
func (s *ids) give(id string) string {
	if s.used == nil {
		s.used = map[string]bool{}
	}
	if fitsID(id) && !s.used[id] {
		s.used[id] = true
		return id
	}
	if s.reserved == nil {
		s.reserve()
	}
	for salt := uint64(0); ; salt++ {
		if made := shortenID(id, salt); !s.used[made] && !s.reserved[made] {
			s.used[made] = true
			return made
		}
	}
}

func (s *ids) reserve() {
	s.reserved = map[string]bool{}
	for m := s.messages.Items(); m.Next(); {
		for it := m.Value.Get("tool_calls").Items(); it.Next(); {
			if id := it.Value.Get("id").String(); fitsID(id) {
				s.reserved[id] = true
			}
		}
	}
}

func fitsID(id string) bool {
	if len(id) != idLen {
		return false
	}
	for i := range idLen {
		c := id[i] | 0x20
		if (c < 'a' || c > 'z') && (id[i] < '0' || id[i] > '9') {
			return false
		}
	}
	return true
}

// shortenID makes an id of FNV-1a's 64 bits.
func shortenID(id string, salt uint64) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	h = (h ^ salt) * 1099511628211
	h ^= h >> 32
	var b [idLen]byte
	for i := range b {
		b[i] = digits[h%uint64(len(digits))]
		h /= uint64(len(digits))
	}
	return string(b[:])
}
