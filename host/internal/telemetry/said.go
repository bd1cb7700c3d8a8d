package telemetry

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// Said is what a request says, by name: the members of its body, or the
// parameters of its URL as JSON. The functions of this file and its neighbours
// make events of it: they count, compare and look for what is given, and no
// text of a request is in what they return. A value of a form that the API
// refuses counts as not given.
type Said map[string]json.RawMessage

// ReadSaid reads a body; one that is not an object says nothing.
func ReadSaid(body []byte) Said {
	var s Said
	_ = json.Unmarshal(body, &s) // a body that is not an object says nothing
	return s
}

func (s Said) given(name string) bool {
	v, ok := s[name]
	return ok && !rawjson.IsAbsent(v)
}

func (s Said) flag(name string) event.Flag { return event.FlagOf(s.given(name)) }

func (s Said) truth(name string) event.Flag {
	return event.FlagOf(bytes.Equal(bytes.TrimSpace(s[name]), []byte("true")))
}

func (s Said) text(name string) (t string) {
	_ = json.Unmarshal(s[name], &t)
	return t
}

func (s Said) number(name string) (n uint64, ok bool) {
	if !s.given(name) || json.Unmarshal(s[name], &n) != nil {
		return 0, false
	}
	return n, true
}

func (s Said) count(name string) event.Count {
	n, _ := s.number(name)
	return event.CountOf(n)
}

// maybe is a number that may be absent.
func (s Said) maybe(name string) event.MaybeCount {
	if n, ok := s.number(name); ok {
		return event.MaybeCountOf(n)
	}
	return 0
}

// entries is how many entries an array or an object has.
func (s Said) entries(name string) (n int, ok bool) {
	v := bytes.TrimSpace(s[name])
	switch {
	case bytes.HasPrefix(v, []byte("[")):
		var list []json.RawMessage
		ok = json.Unmarshal(v, &list) == nil
		n = len(list)
	case bytes.HasPrefix(v, []byte("{")):
		var members map[string]json.RawMessage
		ok = json.Unmarshal(v, &members) == nil
		n = len(members)
	}
	return n, ok
}

// maybeEntries is entries where there may be none.
func (s Said) maybeEntries(name string) event.MaybeCount {
	if n, ok := s.entries(name); ok {
		return event.MaybeCountOf(n)
	}
	return 0
}

func (s Said) entryCount(name string) event.Count {
	n, _ := s.entries(name)
	return event.CountOf(n)
}

func (s Said) texts(name string) (list []string) {
	_ = json.Unmarshal(s[name], &list)
	return list
}

func (s Said) object(name string) Said { return ReadSaid(s[name]) }

// locales is the set of the languages of a list, by their codes of three or
// two letters.
func localesOf(codes []string) (set event.Locales) {
	for _, c := range codes {
		c = strings.ToLower(c)
		if long, ok := longCodes[c]; ok {
			c = long
		}
		set.Add(event.OrdinalOf[event.Locale](c))
	}
	return set
}

// longCodes are the ISO 639-3 codes of those of ISO 639-1.
var longCodes = map[string]string{
	"af": "afr", "ak": "aka", "am": "amh", "ar": "ara", "az": "aze", "be": "bel", "bg": "bul", "bn": "ben", "ca": "cat", "cs": "ces", "da": "dan",
	"de": "deu", "el": "ell", "en": "eng", "eo": "epo", "es": "spa", "et": "est", "fa": "pes", "fi": "fin", "fr": "fra", "gu": "guj", "he": "heb",
	"hi": "hin", "hr": "hrv", "hu": "hun", "hy": "hye", "id": "ind", "it": "ita", "ja": "jpn", "jv": "jav", "ka": "kat", "km": "khm", "kn": "kan",
	"ko": "kor", "la": "lat", "lt": "lit", "lv": "lav", "mk": "mkd", "ml": "mal", "mr": "mar", "my": "mya", "nb": "nob", "ne": "nep", "nl": "nld",
	"or": "ori", "pa": "pan", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus", "si": "sin", "sk": "slk", "sl": "slv", "sn": "sna", "sr": "srp",
	"sv": "swe", "ta": "tam", "te": "tel", "th": "tha", "tk": "tuk", "tl": "tgl", "tr": "tur", "uk": "ukr", "ur": "urd", "uz": "uzb", "vi": "vie",
	"yi": "yid", "zh": "zho", "zu": "zul",
}
