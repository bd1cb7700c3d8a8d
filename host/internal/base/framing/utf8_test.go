package framing

import (
	"bytes"
	"testing"
)

func TestAppendMended(t *testing.T) {
	tests := []struct{ in, want string }{
		{"abc", "abc"},
		{"é€😀\uFFFD", "é€😀\uFFFD"},
		{"\x80\x80", "\uFFFD\uFFFD"},
		{"\xe2\x82A", "\uFFFDA"},               // a character cut short is one
		{"\xf0\x9f\x98", "\uFFFD"},             // at the end too
		{"\xc0\xaf", "\uFFFD\uFFFD"},           // overlong: none of it could begin one
		{"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"}, // a surrogate: nor here
		{"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"\xf0\x80\x80", "\uFFFD\uFFFD\uFFFD"},
		{"\xe0\x80x", "\uFFFD\uFFFDx"},
		{"\xe2\xe2\x82\xac", "\uFFFD€"},
		{"\xff\xfea", "\uFFFD\uFFFDa"},
	}
	for _, tt := range tests {
		if got := string(appendMended(nil, []byte(tt.in))); got != tt.want {
			t.Errorf("appendMended(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if !bytes.Equal(appendMended([]byte("x"), []byte("\xff")), []byte("x\uFFFD")) {
		t.Error("appendMended does not append")
	}
}
