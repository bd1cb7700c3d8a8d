package secret

import (
	"net/url"
	"strings"
	"testing"
)

const apiKey = "sk-4f9a0c/71+d2<e8>b6"

func TestScrub(t *testing.T) {
	t.Parallel()
	const periodic = "key-abab-key-abab-key"
	s := NewScrubber(apiKey, "EMPTY", apiKey+"-longer", periodic, "b6-overlaps-with-that", "passwd")
	for _, tt := range []struct{ in, want string }{
		{"no secret: EMPTY", "no secret: EMPTY"},
		{"all is well", "all is well"},
		{"key " + apiKey + " is bad, " + apiKey, "key [redacted] is bad, [redacted]"},
		{"key " + apiKey + "-longer", "key [redacted]"},
		{`"sk-4f9a0c/71+d2\u003ce8\u003eb6"`, `"[redacted]"`},
		{`"sk-4f9a0c\/71+d2<e8>b6"`, `"[redacted]"`},
		{"?key=sk-4f9a0c%2F71%2Bd2%3Ce8%3Eb6&x", "?key=[redacted]&x"},
		{"Basic c2stNGY5YTBjLzcxK2QyPGU4PmI2", "Basic [redacted]"},
		{"two that overlap: " + periodic + periodic[12:] + "!", "two that overlap: [redacted]!"},
		{"two secrets that overlap: " + apiKey + "-overlaps-with-that!", "two secrets that overlap: [redacted]!"},
		{"two parts: " + apiKey[:17] + ", " + apiKey[4:] + "!", "two parts: [redacted], [redacted]!"},
		{"a part before all: " + apiKey[:18] + apiKey, "a part before all: [redacted]"},
		{"not a part: " + apiKey[:12] + "!", "not a part: " + apiKey[:12] + "!"},
		{"cut: " + apiKey[:12], "cut: [redacted]"},
		{"cut: " + apiKey[:5], "cut: " + apiKey[:5]},
		{"short: passwd, passw", "short: [redacted], passw"},
	} {
		if got := s.Text(tt.in); got != tt.want {
			t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := NewScrubber("", "EMPTY").Text("EMPTY"); got != "EMPTY" {
		t.Errorf("Text without secrets = %q", got)
	}
}

// TestStream cuts texts into pieces of each length.
func TestStream(t *testing.T) {
	t.Parallel()
	const periodic = "key-abab-key-abab-key"
	s := NewWholeScrubber(6, apiKey, periodic, apiKey+"-longer")
	for _, tt := range []struct{ in, before, after string }{
		{"You sent " + apiKey + " to me", "You sent ", " to me"},
		{apiKey[:20] + apiKey + "!" + apiKey[:3], apiKey[:20], "!" + apiKey[:3]},
		{"You sent " + apiKey + "-longer", "You sent ", ""},
		{"x" + periodic + periodic[12:] + ".", "x", "."},
		{"base64 c2stNGY5YTBjLzcxK2QyPGU4PmI2.", "base64 ", "."},
		{apiKey[:20] + "c", apiKey[:20] + "c", ""},
		{"ends " + apiKey[:20], "ends ", ""},
	} {
		for size := 1; size <= len(tt.in); size++ {
			stream, out := s.Stream(), ""
			for i := 0; i < len(tt.in); i += size {
				out += string(stream.Next([]byte(tt.in[i:min(i+size, len(tt.in))])))
			}
			out += string(stream.End())
			rest, hasBefore := strings.CutPrefix(out, tt.before)
			rest, hasAfter := strings.CutSuffix(rest, tt.after)
			shown, _, _ := strings.Cut(rest, Redacted)
			left := strings.ReplaceAll(strings.TrimPrefix(rest, shown), Redacted, "")
			if !hasBefore || !hasAfter || len(shown) > 5 || len(left) > 0 && left != "-longer" || size == len(tt.in) && shown != "" {
				t.Errorf("pieces of %d: %q of %q, want %q, at most five bytes of a key, %s, %q", size, out, tt.in, tt.before, Redacted, tt.after)
			}
		}
	}
}

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

// FuzzStream holds that a stream shows no secret, whatever comes in whatever pieces.
func FuzzStream(f *testing.F) {
	f.Add("abcabcabcabc", "abcabcabc", uint8(3))
	f.Add("xx"+apiKey+"yy", apiKey, uint8(1))
	f.Add("aaaaaaaaaaaaaaaa", "aaaaaaa", uint8(2))
	f.Fuzz(func(t *testing.T, text, key string, size uint8) {
		if strings.Contains(Redacted, key) {
			return
		}
		stream, out := NewWholeScrubber(6, key).Stream(), ""
		for n := max(int(size), 1); text != ""; text = text[min(n, len(text)):] {
			out += string(stream.Next([]byte(text[:min(n, len(text))])))
		}
		out += string(stream.End())
		if out = strings.ReplaceAll(out, Redacted, "\n"); len(key) >= 6 && !strings.Contains(key, "\n") && strings.Contains(out, key) {
			t.Errorf("%q shows %q", out, key)
		}
	})
}

// BenchmarkScrubber makes what looks for a key in one answer.
func BenchmarkScrubber(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = NewScrubber("sk-bench-0123456789abcdef0123456789abcdef")
	}
}

// BenchmarkStream is a word of an answer.
func BenchmarkStream(b *testing.B) {
	stream := NewWholeScrubber(6, "sk-bench-0123456789abcdef0123456789abcdef").Stream()
	word := []byte(" words")
	b.ReportAllocs()
	for b.Loop() {
		stream.Next(word)
	}
}
