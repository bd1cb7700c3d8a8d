package plugin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

func TestCheckEncodeResponse(t *testing.T) {
	reply, url := "hello", "https://api.example.com/v1"
	many := map[string]string{}
	for i := range maxHeaders + 1 {
		many[fmt.Sprint("h", i)] = ""
	}
	tests := []struct {
		in   abi.EncodeResponse
		want string // "": accepted
	}{
		{abi.EncodeResponse{URL: url}, ""},
		{abi.EncodeResponse{Reply: &reply}, ""},
		{abi.EncodeResponse{URL: url, Method: "GET", Framing: "jsonArray", Headers: map[string]string{"X-Key_1": "Bearer ${apiKey} é"}}, ""},
		{abi.EncodeResponse{}, "it has neither url nor reply"},
		{abi.EncodeResponse{URL: url, Reply: &reply}, "it has both url and reply"},
		{abi.EncodeResponse{URL: url + strings.Repeat("x", maxURL)}, "its url has"},
		{abi.EncodeResponse{URL: url + "\r\nX: y"}, "its url holds"},
		{abi.EncodeResponse{URL: url + "/a b"}, "its url holds"},
		{abi.EncodeResponse{URL: url, Method: "post"}, `its method is "post"`},
		{abi.EncodeResponse{URL: url, Method: "CONNECT"}, `its method is "CONNECT"`},
		{abi.EncodeResponse{URL: url, Framing: "xml"}, `its framing is "xml"`},
		{abi.EncodeResponse{URL: url, Headers: many}, "it has 65 headers"},
		{abi.EncodeResponse{URL: url, Headers: map[string]string{"": "x"}}, `its header "" is no name`},
		{abi.EncodeResponse{URL: url, Headers: map[string]string{"a b": "x"}}, `its header "a b" is no name`},
		{abi.EncodeResponse{URL: url, Headers: map[string]string{"é": "x"}}, `is no name`},
		{abi.EncodeResponse{URL: url, Headers: map[string]string{"a": "x\r\nHost: y"}}, `its header "a" holds`},
		{abi.EncodeResponse{URL: url, Headers: map[string]string{"a": strings.Repeat("x", maxHeaderValue+1)}}, `its header "a" holds`},
	}
	for _, tt := range tests {
		err := checkEncodeResponse(&tt.in)
		if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("checkEncodeResponse(%.120v): %v, want %q", tt.in, err, tt.want)
		}
	}
	r := abi.EncodeResponse{URL: url, Body: abi.RawJSON("null")}
	if err := checkEncodeResponse(&r); err != nil || r.Method != "POST" || r.Framing != abi.FramingAuto || r.Body != nil {
		t.Errorf("checkEncodeResponse left %+v, %v, want POST, auto and no body", r, err)
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
