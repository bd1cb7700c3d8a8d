package upstream

import (
	"net/url"
	"testing"
)

// TestQuotable holds that what is not quotable looks the same wherever it is
// quoted: a secret of such bytes has no other form than itself there.
func TestQuotable(t *testing.T) {
	for c := range rune(0x2100) {
		s := string(c)
		same := url.QueryEscape(s) == s && url.PathEscape(s) == s && quoted(s, false) == s && quoted(s, true) == s && s != "/"
		if !quotable(c) && !same {
			t.Errorf("%q is not quotable, and has forms of its own: %v", c, forms(s))
		}
	}
	if got := forms("sk-1234_~.AZaz90"); len(got) != 3 {
		t.Errorf("forms of a plain key: %q, want it and two of base64", got)
	}
}

// BenchmarkScrubber makes what looks for a key in one answer.
func BenchmarkScrubber(b *testing.B) {
	secrets := map[string]string{"apiKey": "sk-bench-0123456789abcdef0123456789abcdef"}
	b.ReportAllocs()
	for b.Loop() {
		_ = newScrubber(secrets)
	}
}
