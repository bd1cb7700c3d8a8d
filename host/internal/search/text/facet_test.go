package text

import "testing"

func TestFacetKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"ano", "año", false},
		{"Jose", "José", false},
		{"がき", "かき", false},
		{"ё", "е", false},
		{"strasse", "straße", false},
		{"cœur", "coeur", false},
		{"José", "JOSE\u0301", true},
		{" \u00a0Paris\n", "paris", true},
		{"ＦＵＬＬ", "full", true},
		{"ｶﾞｷ", "ガキ", true},
		{"ﬁn", "FIN", true},
		{"Ёж", "ёж", true},
		{"ΟΔΟΣ", "οδος", true},
		{"İ", "i\u0307", true},
		{"a\x00b", "a b", true},
		{"", "  ", true},
	} {
		if got := FacetKey(c.a) == FacetKey(c.b); got != c.same {
			t.Errorf("%q and %q have the keys %q and %q; the same: want %v", c.a, c.b, FacetKey(c.a), FacetKey(c.b), c.same)
		}
	}
}
