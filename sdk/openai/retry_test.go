package openai

import (
	"net/http"
	"testing"
	"time"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

func TestRetryAfter(t *testing.T) {
	const date = `"date": "Sat, 21 Nov 2026 06:00:00 GMT"}`
	tests := []struct {
		name    string
		headers string
		want    int64
	}{
		{"none", `{}`, 0},
		{"milliseconds", `{"retry-after-ms": "1500"}`, 1500},
		{"milliseconds win", `{"retry-after-ms": "1500", "retry-after": "9"}`, 1500},
		{"zero milliseconds beside a second", `{"retry-after-ms": "0", "retry-after": "1"}`, 1000},
		{"seconds", `{"retry-after": "20"}`, 20_000},
		{"part of a second", `{"retry-after": "0.25"}`, 250},
		{"a duration", `{"retry-after": "1m30s"}`, 90_000},
		{"a short duration", `{"retry-after": "6ms"}`, 6},
		{"a date", `{"retry-after": "Sat, 21 Nov 2026 06:01:30 GMT", ` + date, 90_000},
		{"a date over a year's end", `{"retry-after": "Fri, 01 Jan 2027 00:00:00 GMT", "date": "Thu, 31 Dec 2026 23:59:00 GMT"}`, 60_000},
		{"a date that has gone by", `{"retry-after": "Sat, 21 Nov 2026 05:00:00 GMT", ` + date, 0},
		{"a month that is none", `{"retry-after": "Sat, 21 anF 2026 06:01:30 GMT", ` + date, 0},
		{"negative", `{"retry-after": "-5"}`, 0},
		{"no number", `{"retry-after": "NaN"}`, 0},
		{"words", `{"retry-after": "soon"}`, 0},
		{"for ever", `{"retry-after": "1e30"}`, maxRetry},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := RetryAfter(&provider.Response{Headers: rawjson.Value(tt.headers)}); got != tt.want {
				t.Errorf("RetryAfter(%s) = %d, want %d", tt.headers, got, tt.want)
			}
		})
	}
}

// TestHTTPDate compares every day of five hundred years with package time.
func TestHTTPDate(t *testing.T) {
	for at := time.Date(1900, 1, 1, 12, 34, 56, 0, time.UTC); at.Year() < 2400; at = at.AddDate(0, 0, 1) {
		text := at.Format(http.TimeFormat)
		if got, ok := httpDate(text); !ok || got != at.Unix() {
			t.Fatalf("httpDate(%q) = %d, %v, want %d", text, got, ok, at.Unix())
		}
	}
}

func TestRetryInText(t *testing.T) {
	for message, want := range map[string]int64{
		"": 0, "Slow down.": 0, "Please retry after a while.": 0, "retry after 5": 0, "retry after -1 seconds": 0, "retry after NaN seconds": 0,
		"Limit exceeded. Please retry after 6 seconds. Go on.": 6000,
		"Retry after 1 second.":                                1000,
		"retry after 1.5 seconds":                              1500,
		"retry after 20 milliseconds":                          20,
		"retry after 2 minutes":                                120_000,
		"retry after 1e300 minutes":                            maxRetry,
	} {
		if got := retryInText(message); got != want {
			t.Errorf("retryInText(%q) = %d, want %d", message, got, want)
		}
	}
}
