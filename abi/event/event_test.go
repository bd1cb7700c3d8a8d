package event_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/parley-search/parley/abi/event"
)

// catalogue is every event, in the order of its kinds.
var catalogue = func() (all []any) {
	for k := event.Kind(1); event.New(k) != nil; k++ {
		all = append(all, reflect.ValueOf(event.New(k)).Elem().Interface())
	}
	return all
}()

// nameOf returns the name of an event or of a field of one.
func nameOf(goName string) string {
	var b strings.Builder
	runes := []rune(goName)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func fieldName(f reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return name
	}
	return nameOf(f.Name)
}

// words is how many words a field of type t has.
func words(t reflect.Type) int { return int(t.Size() / 8) }

// kindOfField says what a field is, in the words of the specification, and
// which labels or vocabulary it has. It fails the test for anything that could
// carry more than a number.
func kindOfField(t *testing.T, event reflect.Type, f reflect.StructField) (kind string, labels []string) {
	t.Helper()
	where := event.Name() + "." + f.Name
	elem := f.Type
	if elem.Kind() == reflect.Array {
		elem = elem.Elem()
	}
	if elem.Kind() != reflect.Uint64 {
		t.Errorf("%s is a %s: a field must be a 64-bit word", where, f.Type)
	}
	switch name := f.Type.Name(); {
	case name == "Flag", name == "MaybeFlag", name == "Count", name == "MaybeCount":
		return map[string]string{"Flag": "flag", "MaybeFlag": "maybe flag", "Count": "count", "MaybeCount": "maybe count"}[name], nil
	case name == "Handle":
		return "handle", []string{f.Tag.Get("vocabulary")}
	case name == "Locales":
		return "set", locales
	case strings.HasPrefix(name, "Set["):
		return "set", reflect.Zero(f.Type).Interface().(interface{ Members() []string }).Members()
	}
	e, ok := reflect.Zero(f.Type).Interface().(interface{ Labels() []string })
	if !ok {
		t.Errorf("%s is a %s, which is none of the kinds of field", where, f.Type)
		return "", nil
	}
	return "enum", e.Labels()
}

var locales = event.Locale(0).Labels()

// TestOnlyNumbers walks the catalogue: nothing but numbers can cross, and every
// number is a flag, a count, an ordinal, a set of ordinals or a handle of a
// known vocabulary.
func TestOnlyNumbers(t *testing.T) {
	label := regexp.MustCompile(`^[A-Za-z][A-Za-z_]{0,31}$`)
	for i, e := range catalogue {
		typ := reflect.TypeOf(e)
		if got, want := event.KindOf(nameOf(typ.Name())), event.Kind(i+1); got != want {
			t.Errorf("the kind of %s is %d, want %d", typ.Name(), got, want)
		}
		seen := map[string]bool{}
		total := 0
		for n := range typ.NumField() {
			f := typ.Field(n)
			if name := fieldName(f); seen[name] {
				t.Errorf("%s has two fields called %s", typ.Name(), name)
			} else {
				seen[name] = true
			}
			if f.Offset != uintptr(8*total) {
				t.Errorf("%s.%s lies at %d, want %d", typ.Name(), f.Name, f.Offset, 8*total)
			}
			total += words(f.Type)
			kind, labels := kindOfField(t, typ, f)
			switch kind {
			case "handle":
				if !slices.Contains(event.Vocabularies(), labels[0]) {
					t.Errorf("%s.%s is a handle of the vocabulary %q, which there is not", typ.Name(), f.Name, labels[0])
				}
			case "enum", "set":
				if len(labels) == 0 || kind == "set" && len(labels) > 64*words(f.Type) {
					t.Errorf("%s.%s has %d labels", typ.Name(), f.Name, len(labels))
				}
				for j, l := range labels {
					if !label.MatchString(l) || slices.Index(labels, l) != j {
						t.Errorf("%s.%s has the label %q", typ.Name(), f.Name, l)
					}
				}
			}
		}
		if total > 64 {
			t.Errorf("%s has %d words: want 64 at most, which is what a ring of events is sized for", typ.Name(), total)
		}
	}
}

func TestMaybe(t *testing.T) {
	if _, given := event.MaybeCount(0).Get(); given {
		t.Error("MaybeCount 0 is given, want nothing")
	}
	for _, n := range []uint64{0, 1, event.MaxCount - 1} {
		if got, given := event.MaybeCountOf(n).Get(); got != n || !given {
			t.Errorf("MaybeCountOf(%d).Get() = %d, %v, want it back", n, got, given)
		}
	}
	if got := event.MaybeCountOf(uint64(1) << 63); got != event.MaxCount {
		t.Errorf("MaybeCountOf(1<<63) = %d, want it clamped to %d", got, uint64(event.MaxCount))
	}
	if got := event.CountOf(-5); got != 0 {
		t.Errorf("CountOf(-5) = %d, want 0", got)
	}
	if got := event.CountOf(uint64(1) << 63); got != event.MaxCount {
		t.Errorf("CountOf(1<<63) = %d, want %d", got, uint64(event.MaxCount))
	}
	for _, b := range []bool{true, false} {
		if yes, given := event.Maybe(b).Get(); yes != b || !given {
			t.Errorf("Maybe(%v).Get() = %v, %v", b, yes, given)
		}
	}
}

func TestLabels(t *testing.T) {
	if got := event.OrdinalOf[event.ChatSource]("mistral"); event.LabelOf(got) != "mistral" {
		t.Errorf("the label of the ordinal of mistral is %q", event.LabelOf(got))
	}
	if got := event.LabelOf(event.OrdinalOf[event.ChatSource]("somebody's own")); got != "other" {
		t.Errorf("an unknown source is %q, want other", got)
	}
	if got := event.OrdinalOf[event.LogsMode]("xml"); got != 0 {
		t.Errorf("an unknown mode is %d, want 0, since there is no other", got)
	}
	if got := event.LabelOf(event.Outcome(77)); got != "" {
		t.Errorf("the label of an unknown ordinal is %q, want none", got)
	}
	var s event.Set[event.EmbedderSource]
	s.Add(event.EmbedderOllama)
	s.Add(0)
	s.Add(65)
	if s != 1<<2 {
		t.Errorf("the set of ollama is %b, want bit 2", s)
	}
	var l event.Locales
	l.Add(1)
	l.Add(65)
	l.Add(129)
	if l != (event.Locales{1, 1}) {
		t.Errorf("the set of locales 1 and 65 is %v", l)
	}
}
