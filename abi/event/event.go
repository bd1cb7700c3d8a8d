// Package event is the catalogue of what a collector may be told: numbers about
// things that happened in the host, and nothing else. No text, no bytes, no
// time, no identifier crosses; the types here are where that is enforced, and a
// test walks them.
//
// An event is a struct of 64-bit words. Its memory is its form on the wire: the
// word at offset 8*i is field i of the record. Fields are only ever added at
// the end, and zero always means "none", "no" or "not given", so that a
// collector may be older or newer than the host that feeds it.
//
// An event is declared once, by its struct: see abi/internal/eventgen. To add a
// field, append it to the struct with a comment that says its meaning. To add
// an event, write its struct with the directive //parley:event and the next
// number. Then run `go generate ./abi/event`, and extend the vectors of
// abi/testdata/vectors/events.json by hand: they hold the wire format still.
package event

//go:generate go run -C ../internal/eventgen .

// A Kind says which event a record is. Collectors skip kinds that they do not
// know. A number is never given a second meaning.
type Kind uint16

// String returns the kind's name in manifests, or "" for a kind that this
// version of the contract does not have.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return ""
	}
	return kindNames[k]
}

// KindOf returns the kind of that name, or 0.
func KindOf(name string) Kind {
	for k, n := range kindNames {
		if n == name && n != "" {
			return Kind(k)
		}
	}
	return 0
}

// The kinds of field. There is no other.
type (
	// A Flag is 1 for yes and 0 for no or not known.
	Flag uint64
	// A MaybeFlag is 0 where nothing was said, 1 for no, 2 for yes.
	MaybeFlag uint64
	// A Count is a number or a size, clamped to [MaxCount].
	Count uint64
	// A MaybeCount is 0 where nothing was said, and one more than the count
	// otherwise.
	MaybeCount uint64
	// A Handle stands for a text that the host itself made, by a grammar or
	// from a vocabulary; see [Vocabularies]. It is good within one window. 0 is
	// none. Fields of this kind name their vocabulary in a tag.
	Handle uint64
	// A Set has bit i set for the ordinal i+1 of E.
	Set[E Enum] uint64
)

// An Enum is an ordinal of a fixed list. 0 is none; 1 is the first label. New
// labels are added at the end, so a collector must expect ordinals that it does
// not know.
type Enum interface {
	~uint64
	Labels() []string
}

// MaxCount is the most that a count can be: what a float64 holds exactly.
const MaxCount = 1<<53 - 1

// FlagOf returns b as a field.
func FlagOf(b bool) Flag {
	if b {
		return 1
	}
	return 0
}

// Maybe returns b as a field that was given.
func Maybe(b bool) MaybeFlag { return MaybeFlag(FlagOf(b)) + 1 }

// Get returns the flag; given is false where nothing was said.
func (m MaybeFlag) Get() (yes, given bool) { return m > 1, m > 0 }

// CountOf returns n as a field: 0 for less than that, [MaxCount] for more than
// that.
func CountOf[N int | int64 | uint64](n N) Count {
	if n < 0 {
		return 0
	}
	return Count(min(uint64(n), MaxCount))
}

// MaybeCountOf returns n as a field that was given.
func MaybeCountOf[N int | int64 | uint64](n N) MaybeCount {
	return MaybeCount(min(CountOf(n), MaxCount-1)) + 1
}

// Get returns the count; given is false where nothing was said.
func (m MaybeCount) Get() (n uint64, given bool) {
	if m == 0 {
		return 0, false
	}
	return uint64(m) - 1, true
}

// Add puts e into the set. What lies outside of 1 to 64 is left out.
func (s *Set[E]) Add(e E) {
	if e >= 1 && e <= 64 {
		*s |= 1 << (e - 1)
	}
}

// Members returns the labels of E, whatever is in the set.
func (Set[E]) Members() []string { return E(0).Labels() }

// The vocabularies of handles: what the host puts there, and no more.
const (
	VocabularyVersion        = "version"         // of this service: 1.2.3 or 1.2.3-rc.1
	VocabularyKernel         = "kernel"          // 6.1 or 6.1.12
	VocabularyDistribution   = "distribution"    // known ids of os-release and GOOS; other
	VocabularyServerProvider = "server_provider" // known hosting companies; other; the empty text
	VocabularyUserAgent      = "user_agent"      // known clients with their version; other
	VocabularyMediaType      = "media_type"      // type/subtype; missing; invalid
	VocabularyAttribute      = "attribute"       // [A-Za-z0-9_-]{1,64}; other
	VocabularySource         = "source"          // sources of plugins, 64 at most; other
	VocabularyGuard          = "guard"           // names of guards, 64 at most; other
	VocabularyNote           = "note"            // labels of guards' notes, 64 at most; other
)

// Vocabularies lists them all.
func Vocabularies() []string {
	return []string{
		VocabularyVersion, VocabularyKernel, VocabularyDistribution, VocabularyServerProvider,
		VocabularyUserAgent, VocabularyMediaType, VocabularyAttribute, VocabularySource, VocabularyGuard, VocabularyNote,
	}
}

// FewTexts lists the vocabularies with so few texts that a metric may be divided
// by them: at most 64 in a window, and other.
func FewTexts() []string { return []string{VocabularySource, VocabularyGuard, VocabularyNote} }
