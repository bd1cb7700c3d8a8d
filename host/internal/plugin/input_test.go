package plugin

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// FuzzInputJSON holds what is written by hand to what package json writes.
func FuzzInputJSON(f *testing.F) {
	f.Add("http://h/v1", "AAEC", 1)
	f.Add("", "", 0)
	f.Add("\"\\<&>\xff", "\x00", -1)
	f.Fuzz(func(t *testing.T, base, carry string, round int) {
		in := &abi.EncodeRequest{
			Settings: abi.Settings{BaseURL: base, APIKey: abi.PlaceholderAPIKey},
			Chat:     abi.RawJSON(`{"model":"m","messages":[{"role":"user","content":"a \"<b>\""}]}`),
			Round:    round, Attempt: round / 2,
		}
		if carry != "" {
			in.Carry, in.TextCarry = []string{carry, ""}, []string{carry}
		}
		got, err := InputJSON(in)
		want, wantErr := shortJSON(in)
		if err != nil || wantErr != nil || string(got) != string(want) {
			t.Errorf("InputJSON = %s, %v\nwant %s, %v", got, err, want, wantErr)
		}
	})
}

// BenchmarkInputJSON writes the input of an encode call: a question under the
// prompt that a workspace has.
func BenchmarkInputJSON(b *testing.B) {
	chat := `{"model":"m","stream":true,"messages":[{"role":"system","content":"` + strings.Repeat(`Answer from the documents.\n`, 35) + `"},{"role":"user","content":"hello"}]}`
	in := &abi.EncodeRequest{Settings: abi.Settings{BaseURL: "http://127.0.0.1:8000/v1", APIKey: abi.PlaceholderAPIKey}, Chat: abi.RawJSON(chat)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := InputJSON(in); err != nil {
			b.Fatal(err)
		}
	}
}
