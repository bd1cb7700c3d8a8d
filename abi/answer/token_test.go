package answer_test

import (
	"testing"
	"time"

	"github.com/parley-search/parley/abi/answer"
)

// TestTokenUntil reads until when a token is good: past where it ends at once, and zero where
// the answer says nothing of it that is a time.
func TestTokenUntil(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for _, tt := range []struct {
		place, says string
		want        time.Duration // from now on
		unsaid      bool
	}{
		{"{{seconds}}", `3600`, time.Hour, false},
		{"{{seconds}}", `"59.9"`, 59 * time.Second, false},
		{"{{seconds}}", `0`, 0, false},
		{"{{seconds}}", `"0"`, 0, false},
		{"{{seconds}}", `-7`, 0, false},
		{"{{seconds}}", `1e9`, 1e8 * time.Second, false},
		{"{{seconds}}", `"NaN"`, 0, true},
		{"{{seconds}}", `"+Inf"`, 0, true},
		{"{{seconds}}", `1e300`, 0, true},
		{"{{seconds}}", `"soon"`, 0, true},
		{"{{seconds}}", `null`, 0, true},
		{"{{expires}}", `1700000060`, time.Minute, false},
		{"{{expires}}", `0`, -1_700_000_000 * time.Second, false},
		{"{{expires}}", `-1`, -1_700_000_000 * time.Second, false},
		{"{{expires}}", `"2023-11-14T22:13:30Z"`, 10 * time.Second, false},
		{"{{expires}}", `"NaN"`, 0, true},
	} {
		read, err := answer.ParseToken([]byte(`{"t":"{{token}}","e":"` + tt.place + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		token, until, err := read.Read([]byte(`{"t":"x","e":`+tt.says+`}`), now)
		if err != nil || token != "x" || until.IsZero() != tt.unsaid || !tt.unsaid && until.Sub(now) != tt.want {
			t.Errorf("%s %s: %q until %v, %v; want %v from now, unsaid %v", tt.place, tt.says, token, until.Sub(now), err, tt.want, tt.unsaid)
		}
	}
}
