package event

// A Locale is a language by its ISO 639-3 code.
type Locale uint64

// localeCodes is the list of languages, in alphabetical order as far as it was
// made at once; new ones go to the end.
var localeCodes = [...]string{
	"afr", "aka", "amh", "ara", "aze", "bel", "ben", "bul", "cat", "ces", "cmn", "dan", "deu", "ell", "eng", "epo",
	"est", "fin", "fra", "guj", "heb", "hin", "hrv", "hun", "hye", "ind", "ita", "jav", "jpn", "kan", "kat", "khm",
	"kor", "lat", "lav", "lit", "mal", "mar", "mkd", "mya", "nep", "nld", "nob", "ori", "pan", "pes", "pol", "por",
	"ron", "rus", "sin", "slk", "slv", "sna", "spa", "srp", "swe", "tam", "tel", "tgl", "tha", "tuk", "tur", "ukr",
	"urd", "uzb", "vie", "yid", "zho", "zul",
}

// Labels implements [Enum].
func (Locale) Labels() []string { return localeCodes[:] }

// Locales is a set of [Locale]: bit i of word w is the ordinal 64*w+i+1.
type Locales [2]uint64

// Add puts l into the set; what the set has no bit for is left out.
func (s *Locales) Add(l Locale) {
	if l >= 1 && l <= 128 {
		s[(l-1)/64] |= 1 << ((l - 1) % 64)
	}
}
