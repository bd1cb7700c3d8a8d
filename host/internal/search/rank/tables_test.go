package rank

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// TestPlaceCost holds the steps to what Meilisearch counts, since scores are to mean the same.
func TestPlaceCost(t *testing.T) {
	for _, tt := range []struct{ pos, typed, step, want int }{
		{1, 1, 0, 0}, // as typed
		{2, 1, 0, 1}, // one off
		{1, 2, 0, 1}, // one before
		{5, 1, 0, 2},
		{6, 1, 0, 3},
		{8, 1, 0, 3},
		{9, 1, 0, 4},
		{12, 1, 0, 4},
		{16, 1, 0, 5},
		{17, 1, 0, 6}, // from here places are coarse
		{24, 1, 0, 6},
		{25, 1, 0, 7},
		{66, 1, 0, 8},
		{258, 1, 0, 9},
		{5000, 1, 0, mostPlace},
		{1, 1, 1, 1}, // the word after one that is there
		{3, 1, 3, 3},
	} {
		if got := placeCost(tt.pos, tt.typed, tt.step); got != tt.want {
			t.Errorf("placeCost(%d, %d, %d) = %d, want %d", tt.pos, tt.typed, tt.step, got, tt.want)
		}
	}
}

func TestTypoPolicy(t *testing.T) {
	usual := settings.TypoTolerance{Enabled: true, OneTypo: 5, TwoTypos: 9, DisableOnWords: []string{"Parley"}}
	off, words := usual, usual
	off.Enabled = false
	words.DisableOnNumbers = true
	for _, tt := range []struct {
		name          string
		policy        settings.TypoTolerance
		term          string
		want, inValue int
	}{
		{"short", usual, "word", 0, 0},
		{"long enough for one", usual, "words", 1, 1},
		{"just too short for two", usual, "sentence", 1, 1},
		{"long enough for two", usual, "sentences", 2, 2},
		{"named in the setting, in another case", usual, "parley", 0, 0},
		{"characters count in words, bytes in values", usual, "größe", 1, 1},
		{"five bytes of three characters", usual, "äöx", 0, 1},
		{"a number", usual, "1234567", 1, 1},
		{"a number without typos", words, "1234567", 0, 1},
		{"a number and a letter", words, "12345x", 1, 1},
		{"switched off", off, "sentences", 0, 0},
		{"nothing", usual, "", 0, 0},
	} {
		p := NewTypoPolicy(&tt.policy)
		if got := p.Allowed(tt.term); got != tt.want {
			t.Errorf("%s: Allowed(%q) = %d, want %d", tt.name, tt.term, got, tt.want)
		}
		if got := p.AllowedInValue(tt.term); got != tt.inValue {
			t.Errorf("%s: AllowedInValue(%q) = %d, want %d", tt.name, tt.term, got, tt.inValue)
		}
	}
}

func TestRelaxedFromLast(t *testing.T) {
	for _, tt := range []struct {
		name       string
		all, words unitSet
		want       []unitSet
	}{
		{"one word", 0b1, 0b1, []unitSet{0b1}},
		{"words go from the last, and the first stays", 0b111, 0b111, []unitSet{0b111, 0b011, 0b001}},
		{"phrases stay", 0b111, 0b010, []unitSet{0b111, 0b101}},
		{"all words go where there is a phrase", 0b111, 0b110, []unitSet{0b111, 0b011, 0b001}},
		{"phrases alone", 0b11, 0, []unitSet{0b11}},
	} {
		if got := relaxedFromLast(tt.all, tt.words); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %b, want %b", tt.name, got, tt.want)
		}
	}
}

// TestDisjoin wants each document counted where it first is.
func TestDisjoin(t *testing.T) {
	for _, tt := range []struct {
		name     string
		in, want [][]uint32
	}{
		{"nothing in common", [][]uint32{{1}, {2}}, [][]uint32{{1}, {2}}},
		{"what comes again goes", [][]uint32{{1, 2}, {2, 3}}, [][]uint32{{1, 2}, {3}}},
		{"also of one further before", [][]uint32{{1}, {2}, {1, 2, 3}}, [][]uint32{{1}, {2}, {3}}},
		{"over a gap", [][]uint32{{1}, nil, {1, 4}}, [][]uint32{{1}, nil, {4}}},
	} {
		list := make([]*roaring.Bitmap, len(tt.in))
		for i, docs := range tt.in {
			if docs != nil {
				list[i] = roaring.BitmapOf(docs...)
			}
		}
		disjoin(list)
		for i, want := range tt.want {
			switch {
			case list[i] == nil && want == nil:
			case list[i] == nil || !slices.Equal(list[i].ToArray(), want):
				t.Errorf("%s: set %d is %v, want %v", tt.name, i, list[i], want)
			}
		}
	}
}

// TestStandsIn finds phrases in the places of their words.
func TestStandsIn(t *testing.T) {
	at := func(places ...int) (out []spot) { // of field 1
		for _, p := range places {
			out = append(out, spot{field: 1, pos: uint16(p)})
		}
		return out
	}
	words := func(places ...int) (out []text.Word) {
		for _, p := range places {
			out = append(out, text.Word{Pos: p})
		}
		return out
	}
	for _, tt := range []struct {
		name  string
		words []text.Word
		at    [][]spot
		want  bool
	}{
		{"side by side", words(1, 2), [][]spot{at(7), at(8)}, true},
		{"side by side at the second place", words(1, 2), [][]spot{at(3, 7), at(5, 8)}, true},
		{"in the wrong order", words(1, 2), [][]spot{at(8), at(7)}, false},
		{"apart", words(1, 2), [][]spot{at(7), at(9)}, false},
		{"in another field", words(1, 2), [][]spot{at(7), {{field: 2, pos: 8}}}, false},
		{"three", words(1, 2, 3), [][]spot{at(4), at(5), at(6)}, true},
		{"three, of which the last is apart", words(1, 2, 3), [][]spot{at(4), at(5), at(7)}, false},
		{"a stop word between, and there", words(1, 3), [][]spot{at(4), at(6)}, true},
		{"a stop word between, and left out", words(1, 3), [][]spot{at(4), at(5)}, true},
		{"a stop word between, and too far", words(1, 3), [][]spot{at(4), at(7)}, false},
		{"two stop words between: anywhere", words(1, 4), [][]spot{at(4), at(90)}, true},
		{"one word", words(1), [][]spot{at(4)}, true},
		{"a word that is not there", words(1, 2), [][]spot{at(4), nil}, false},
	} {
		if got := standsIn(tt.words, tt.at); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}

// TestStandings orders hits of several searches.
func TestStandings(t *testing.T) {
	texts := func(score float64) OrderStep { return OrderStep{Texts: true, Score: score} }
	blank := OrderStep{Texts: true, Blank: true}
	for _, tt := range []struct {
		name string
		a, b Standing
		want int
	}{
		{"the better match", Standing{Steps: []OrderStep{texts(.9)}, Weight: 1}, Standing{Steps: []OrderStep{texts(.5)}, Weight: 1}, -1},
		{"the worse match of a heavier search", Standing{Steps: []OrderStep{texts(.5)}, Weight: 2}, Standing{Steps: []OrderStep{texts(.9)}, Weight: 1}, -1},
		{"looked for before not looked for", Standing{Steps: []OrderStep{blank}, Weight: 1}, Standing{Steps: []OrderStep{texts(.1)}, Weight: 1}, 1},
		{"neither looked for: by the score", Standing{Steps: []OrderStep{blank}, Weighted: 1}, Standing{Steps: []OrderStep{blank}, Weighted: 2}, 1},
		{"the second step decides", Standing{Steps: []OrderStep{texts(.5), texts(.2)}, Weight: 1}, Standing{Steps: []OrderStep{texts(.5), texts(.3)}, Weight: 1}, 1},
		{"steps of other kinds do not", Standing{Steps: []OrderStep{{Down: true}}, Weighted: 2}, Standing{Steps: []OrderStep{texts(.9)}, Weighted: 1}, -1},
		{"hidden values of another host do not", Standing{Steps: []OrderStep{{Hidden: true}}, Remote: "x", Weighted: 1}, Standing{Steps: []OrderStep{{}}, Weighted: 1}, 0},
		{"no steps: by the score", Standing{Weighted: 3}, Standing{Weighted: 1}, -1},
		{"equal", Standing{Steps: []OrderStep{texts(.5)}, Weight: 1, Weighted: 1}, Standing{Steps: []OrderStep{texts(.5)}, Weight: 1, Weighted: 1}, 0},
	} {
		if got := tt.a.Compare(&tt.b); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
		if got := tt.b.Compare(&tt.a); got != -tt.want {
			t.Errorf("%s, turned round: %d, want %d", tt.name, got, -tt.want)
		}
	}
}

func TestApartAt(t *testing.T) {
	for _, tt := range []struct {
		a, b []string
		step int
		ok   bool
	}{
		{nil, nil, 0, false},
		{[]string{"x"}, []string{"x", "y"}, 0, false}, // the shorter one has no say
		{[]string{"x", "y"}, []string{"x", "z"}, 1, true},
		{[]string{"y"}, []string{"x"}, 0, true},
	} {
		if step, ok := ApartAt(tt.a, tt.b); step != tt.step || ok != tt.ok {
			t.Errorf("ApartAt(%q, %q) = %d, %t, want %d, %t", tt.a, tt.b, step, ok, tt.step, tt.ok)
		}
	}
}

func TestFields(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fields Fields
		field  uint16
		typos  uint8
		counts bool
		rank   uint32
	}{
		{"nothing said", Fields{}, 3, 2, true, unknownRank},
		{"a field with a rank", Fields{Ranks: []uint16{5, 6}}, 1, 0, true, 6},
		{"not among those that match", Fields{In: []bool{true, false}}, 1, 0, false, unknownRank},
		{"newer than the list", Fields{In: []bool{true}}, 1, 0, false, unknownRank},
		{"not searched", Fields{Searched: []bool{false}}, 0, 0, false, unknownRank},
		{"without typos", Fields{Typos: []bool{false}}, 0, 0, true, unknownRank},
		{"with typos where none count", Fields{Typos: []bool{false}}, 0, 1, false, unknownRank},
		{"of another alphabet", Fields{Alphabets: []text.AlphabetSet{0}}, 0, 0, false, unknownRank},
	} {
		if got := tt.fields.counts(tt.field, tt.typos, text.AllAlphabets); got != tt.counts {
			t.Errorf("%s: counts is %t, want %t", tt.name, got, tt.counts)
		}
		if got := tt.fields.rank(tt.field); got != tt.rank {
			t.Errorf("%s: the rank is %d, want %d", tt.name, got, tt.rank)
		}
	}
}

func TestFalling(t *testing.T) {
	words, field := settings.Criterion{Kind: settings.WordsRule}, settings.Criterion{Kind: settings.FieldRule}
	for _, tt := range []struct {
		name  string
		rules []settings.Criterion
		want  bool
	}{
		{"texts alone", []settings.Criterion{words, words}, true},
		{"values last", []settings.Criterion{words, field}, true},
		{"values first", []settings.Criterion{field, words}, false},
		{"values between", []settings.Criterion{words, field, words}, false},
		{"none", nil, true},
	} {
		if got := falling(tt.rules); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}

func TestShareOf(t *testing.T) {
	worth := []float64{3, 1, 0}
	for units, want := range map[unitSet]float64{0b111: 1, 0b001: .75, 0b010: .25, 0b100: 0, 0: 0} {
		if got := shareOf(worth, units); math.Abs(got-want) > 1e-12 {
			t.Errorf("units %b are worth %v, want %v", units, got, want)
		}
	}
}

// TestInOrder wants lists of any length and form in their order, as far as they are read.
func TestInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 43))
	for name, value := range map[string]func(i, n int) int{
		"random": func(int, int) int { return rng.IntN(1 << 20) },
		"sorted": func(i, _ int) int { return i },
		"turned": func(i, n int) int { return n - i },
		"equal":  func(int, int) int { return 7 },
		"few":    func(int, int) int { return rng.IntN(3) },
	} {
		for _, n := range []int{0, 1, 16, 65, 1000} {
			for _, want := range []int{0, 20, 400, 5000} {
				list := make([]int, n)
				for i := range list {
					list[i] = value(i, n)
				}
				sorted := slices.Sorted(slices.Values(list))
				var got []int
				inOrder(list, want, func(a, b *int) int { return cmp.Compare(*a, *b) }, func(x *int) bool {
					got = append(got, *x)
					return len(got) < want
				})
				if most := min(n, max(want, 1)); !slices.Equal(got, sorted[:most]) {
					t.Errorf("%s, %d of %d: got %d, or in another order", name, want, n, len(got))
				}
			}
		}
	}
}

// TestPacked wants an expansion back as it was kept.
func TestPacked(t *testing.T) {
	for name, x := range map[string]*expansion{
		"no word":      {within: [3]*roaring.Bitmap{roaring.New(), roaring.New(), roaring.New()}},
		"the word":     {derived: []Derived{{"word", 0, true, 1}}, known: true, within: [3]*roaring.Bitmap{roaring.BitmapOf(1), roaring.BitmapOf(1), roaring.BitmapOf(1)}},
		"with typos":   {derived: []Derived{{"ward", 1, false, 1}, {"würde", 2, false, 1}}, within: [3]*roaring.Bitmap{roaring.New(), roaring.BitmapOf(4), roaring.BitmapOf(4, 70_000)}},
		"an empty one": {derived: []Derived{{"", 2, false, 1}}, within: [3]*roaring.Bitmap{roaring.New(), roaring.New(), roaring.BitmapOf(2)}},
	} {
		p, err := x.pack()
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.unpack(1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(got.derived, x.derived) || got.known != x.known {
			t.Errorf("%s: %v, known %t, want %v, %t", name, got.derived, got.known, x.derived, x.known)
		}
		for i := range x.within {
			if got.within[i] == nil || !got.within[i].Equals(x.within[i]) {
				t.Errorf("%s: within %d typos are %v, want %v", name, i, got.within[i], x.within[i])
			}
		}
	}
}
