package limit_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
)

func TestMerge(t *testing.T) {
	var l limit.Limits
	for _, tt := range []struct{ patch, want string }{
		{`null`, `null`},
		{`{}`, `null`},
		{`{"requestsPerMinute":60,"tokens":{"amount":5,"period":"day"}}`, `{"requestsPerMinute":60,"tokensPerMinute":null,"parallel":null,"tokens":{"amount":5,"period":"day"}}`},
		{`{"parallel":8,"countSearch":true}`, `{"requestsPerMinute":60,"tokensPerMinute":null,"parallel":8,"tokens":{"amount":5,"period":"day"},"countSearch":true}`},
		{`{"requestsPerMinute":null,"tokensPerMinute":7,"tokens":{"amount":6}}`, `{"requestsPerMinute":null,"tokensPerMinute":7,"parallel":8,"tokens":{"amount":6,"period":"day"},"countSearch":true}`},
		{`{"perClient":true}`, `{"requestsPerMinute":null,"tokensPerMinute":7,"parallel":8,"tokens":{"amount":6,"period":"day"},"countSearch":true,"perClient":true}`},
		{`{"perClient":false,"tokens":null,"countSearch":null,"parallel":null}`, `{"requestsPerMinute":null,"tokensPerMinute":7,"parallel":null,"tokens":null}`},
		{`null`, `null`},
	} {
		var err error
		if l, err = limit.MergeKey(l, json.RawMessage(tt.patch)); err != nil {
			t.Fatalf("%s: %v", tt.patch, err)
		}
		b, err := json.Marshal(l)
		if err != nil || string(b) != tt.want {
			t.Errorf("after %s: %s, %v; want %s", tt.patch, b, err, tt.want)
		}
		var back limit.Limits
		if err := json.Unmarshal(b, &back); err != nil || back != l {
			t.Errorf("%s comes back as %+v, %v; want %+v", b, back, err, l)
		}
	}
}

func TestMergeRefused(t *testing.T) {
	for patch, want := range map[string]string{
		`[]`:                                      "`limits` must be an object or null.",
		`{"requestsPerMinute":0}`:                 "`limits.requestsPerMinute` must be an integer from 1 to 9007199254740992, or null for no bound.",
		`{"requestsPerMinute":1.5}`:               "`limits.requestsPerMinute` must be an integer from 1 to 9007199254740992, or null for no bound.",
		`{"tokensPerMinute":"9"}`:                 "`limits.tokensPerMinute` must be an integer from 1 to 9007199254740992, or null for no bound.",
		`{"tokens":5}`:                            "`limits.tokens` must be an object or null.",
		`{"tokens":{"amount":5}}`:                 "`limits.tokens.period` is missing: it must be \"hour\", \"day\", \"week\", \"month\", \"total\".",
		`{"tokens":{"period":"day"}}`:             "`limits.tokens.amount` is missing: say how many tokens there are for a period, or send null for `limits.tokens`.",
		`{"tokens":{"amount":5,"period":"year"}}`: "`limits.tokens.period` must be \"hour\", \"day\", \"week\", \"month\", \"total\".",
		`{"countSearch":true}`:                    "Unknown field `limits.countSearch`: known are `parallel`, `perClient`, `requestsPerMinute`, `tokens`, `tokensPerMinute`.",
	} {
		_, err := limit.MergeWorkspace(limit.Limits{}, json.RawMessage(patch))
		if e := apierr.From(err); e == nil || e.Message != want || e.Code != chaterr.InvalidChatLimits && patch != `{"countSearch":true}` {
			t.Errorf("%s: %v, want %q", patch, err, want)
		}
	}
	if _, err := limit.OfToken(json.RawMessage(`{"perClient":true}`)); !apierr.Is(err, apierr.BadRequest) {
		t.Errorf("perClient of a token: %v", err)
	}
	if _, err := limit.MergeKey(limit.Limits{}, json.RawMessage(`{"countSearch":1}`)); !apierr.Is(err, apierr.InvalidAPIKeyLimits) {
		t.Errorf("countSearch 1: %v", err)
	}
}

func TestSpans(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 30, 0, 0, time.FixedZone("", 3600)) // a Saturday in UTC, the last of February
	for _, tt := range []struct {
		period             limit.Period
		start, end, before string
	}{
		{limit.Hour, "2026-02-28T23", "2026-03-01T00", "2026-02-28T22"},
		{limit.Day, "2026-02-28T00", "2026-03-01T00", "2026-02-27T00"},
		{limit.Week, "2026-02-23T00", "2026-03-02T00", "2026-02-16T00"},
		{limit.Month, "2026-02-01T00", "2026-03-01T00", "2026-01-01T00"},
	} {
		form := func(at time.Time) string { return at.UTC().Format("2006-01-02T15") }
		s := tt.period.At(now)
		before, ok := s.Before()
		if form(time.Unix(s.Start, 0)) != tt.start || form(s.End()) != tt.end || form(time.Unix(before.Start, 0)) != tt.before || !ok {
			t.Errorf("%s: %s to %s, before it %s; want %s to %s, %s", tt.period, form(time.Unix(s.Start, 0)), form(s.End()), form(time.Unix(before.Start, 0)), tt.start, tt.end, tt.before)
		}
	}
	if s := limit.Total.At(now); !s.End().IsZero() || s != limit.Total.At(now.AddDate(9, 0, 0)) {
		t.Errorf("total = %+v", s)
	}
	monday := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	if s := limit.Week.At(monday); s.Start != monday.Unix() {
		t.Errorf("a week begins at %v, want %v", time.Unix(s.Start, 0).UTC(), monday)
	}
}
