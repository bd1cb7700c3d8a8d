package plugin

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

func TestMendEncodeResponse(t *testing.T) {
	reply, url := "hello", "https://api.example.com/v1"
	for _, tt := range []struct {
		in   abi.EncodeResponse
		want string // "": accepted
	}{
		{abi.EncodeResponse{URL: url}, ""},
		{abi.EncodeResponse{Reply: &reply}, ""},
		{abi.EncodeResponse{}, "it has neither url nor reply"},
		{abi.EncodeResponse{URL: url, Reply: &reply}, "it has both url and reply"},
	} {
		err := mendEncodeResponse(&tt.in)
		if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("mendEncodeResponse(%.120v): %v, want %q", tt.in, err, tt.want)
		}
	}
	r := abi.EncodeResponse{URL: url, Body: abi.RawJSON("null")}
	if err := mendEncodeResponse(&r); err != nil || r.Method != "POST" || r.Framing != abi.FramingAuto || r.Body != nil {
		t.Errorf("mendEncodeResponse left %+v, %v, want POST, auto and no body", r, err)
	}
}

// TestCheckAnswerAsksOutbound wants the kit's check of a request to be that of
// package outbound, and to leave replies alone.
func TestCheckAnswerAsksOutbound(t *testing.T) {
	for answer, want := range map[string]string{
		`{"url":"https://api.example.com/v1"}`:                                                       "",
		`{"reply":"hello"}`:                                                                          "",
		`{"url":"https://api.example.com/v1","method":"PUT"}`:                                        `the method "PUT"`,
		`{"url":"https://api.example.com/v1","headers":{"host":"x"}}`:                                "only the host sets",
		`{"url":"https://api.example.com/v1","headers":{"a":"` + strings.Repeat("x", 8<<10) + `x"}}`: "to 8193 bytes; at most 8192",
	} {
		err := CheckAnswer(abi.FuncEncode, []byte(answer))
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("CheckAnswer(%.120s): %v, want %q", answer, err, want)
		}
	}
}

func TestMendProviderError(t *testing.T) {
	tests := []struct{ in, want abi.ProviderError }{
		{
			abi.ProviderError{Kind: "quota", Message: "pay up", ProviderCode: "x", RetryAfterMS: 5},
			abi.ProviderError{Kind: "quota", Message: "pay up", ProviderCode: "x", RetryAfterMS: 5},
		},
		{
			abi.ProviderError{Kind: "gremlins", Message: " a\r\nb\xff\x1b[31m ", RetryAfterMS: -1},
			abi.ProviderError{Kind: "upstream", Message: "a  b\uFFFD [31m"},
		},
		{
			abi.ProviderError{Message: strings.Repeat("x", 2000), RetryAfterMS: 1 << 60},
			abi.ProviderError{Kind: "upstream", Message: strings.Repeat("x", maxMessage) + "…", RetryAfterMS: 86_400_000},
		},
		{abi.ProviderError{Kind: "auth"}, abi.ProviderError{Kind: "auth", Message: "the provider gave no reason"}},
	}
	for _, tt := range tests {
		got := tt.in
		mendProviderError(&got)
		if got != tt.want {
			t.Errorf("mendProviderError(%.80v) left %+v, want %+v", tt.in, got, tt.want)
		}
	}
}
