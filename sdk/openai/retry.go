package openai

import (
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// maxRetry is the longest wait that is believed, in milliseconds: a day.
const maxRetry = 24 * 60 * 60 * 1000

// RetryAfter returns how long a response asks to wait, in milliseconds, 0 where
// it does not say. It reads retry-after-ms and then retry-after, as seconds, an
// HTTP date, or a duration such as 1m30s. Azure sends 0 in the first with a
// second in the other, so 0 counts as not said.
func RetryAfter(r *provider.Response) int64 {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(r.Header("retry-after-ms")), 64); err == nil && ms > 0 {
		return clampWait(ms)
	}
	text := strings.TrimSpace(r.Header("retry-after"))
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return clampWait(s * 1000)
	}
	if ms, ok := parseDuration(text); ok {
		return clampWait(ms)
	}
	at, ok := httpDate(text)
	if !ok {
		return 0
	}
	// The provider's own clock is the one that the date was made by.
	now, ok := httpDate(r.Header("date"))
	if !ok {
		now = provider.Now() / 1000
	}
	return clampWait(float64(at-now) * 1000)
}

// retryInBody returns how long an error asks to wait, in milliseconds, 0 where it does
// not say: e is the part of v that is the error, with a message.
func retryInBody(v, e rawjson.Value, message string) int64 {
	for it := e.Get("details").Items(); it.Next(); { // google.rpc.RetryInfo
		if ms, ok := parseDuration(it.Value.Get("retryDelay").String()); ok {
			return clampWait(ms)
		}
	}
	for _, at := range [...]rawjson.Value{e.Get("retry_after"), v.Get("retry_after"), v.Get("estimated_time")} {
		if s, err := strconv.ParseFloat(readCode(at), 64); err == nil {
			return clampWait(s * 1000)
		}
	}
	return retryInText(message)
}

// retryInText reads a message: "Please retry after 6 seconds", "try again
// in 7m12.48s".
func retryInText(message string) int64 {
	message = strings.ToLower(message)
	for _, words := range [...]string{"retry after ", "again in ", "retry in "} {
		_, rest, ok := strings.Cut(message, words)
		if !ok {
			continue
		}
		number, unit, _ := strings.Cut(rest, " ")
		number = strings.TrimRight(number, ".,;)")
		if ms, ok := parseDuration(number); ok {
			return clampWait(ms)
		}
		n, err := strconv.ParseFloat(number, 64)
		switch {
		case err != nil:
		case strings.HasPrefix(unit, "millisecond"), strings.HasPrefix(unit, "ms"):
			return clampWait(n)
		case strings.HasPrefix(unit, "second"):
			return clampWait(n * 1000)
		case strings.HasPrefix(unit, "minute"):
			return clampWait(n * 60_000)
		case strings.HasPrefix(unit, "hour"):
			return clampWait(n * 3_600_000)
		}
	}
	return 0
}

// clampWait returns ms as a whole number within bounds.
func clampWait(ms float64) int64 {
	if !(ms > 0) {
		return 0
	}
	return int64(min(ms, maxRetry) + 0.5)
}

// The two parsers below stand here because package time's, with what they
// bring along, make a module 370 kB larger.

// parseDuration reads a time as Go writes it, 1m30s or 20ms, in milliseconds.
func parseDuration(text string) (ms float64, ok bool) {
	for text != "" {
		i := 0
		for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.') {
			i++
		}
		n, err := strconv.ParseFloat(text[:i], 64)
		if err != nil {
			return 0, false
		}
		text = text[i:]
		switch {
		case strings.HasPrefix(text, "ms"):
			ms, text = ms+n, text[2:]
		case strings.HasPrefix(text, "s"):
			ms, text = ms+n*1000, text[1:]
		case strings.HasPrefix(text, "m"):
			ms, text = ms+n*60_000, text[1:]
		case strings.HasPrefix(text, "h"):
			ms, text = ms+n*3_600_000, text[1:]
		default:
			return 0, false
		}
		ok = true
	}
	return ms, ok
}

// httpDate reads a date in the one form that HTTP lets servers write, "Sun, 06
// Nov 1994 08:49:37 GMT", in seconds since 1970.
func httpDate(text string) (unix int64, ok bool) {
	f := strings.Fields(text)
	if len(f) != 6 || len(f[2]) != 3 || len(f[4]) != 8 || f[5] != "GMT" {
		return 0, false
	}
	month := strings.Index("JanFebMarAprMayJunJulAugSepOctNovDec", f[2])
	day, err1 := strconv.Atoi(f[1])
	year, err2 := strconv.Atoi(f[3])
	hour, err3 := strconv.Atoi(f[4][:2])
	minute, err4 := strconv.Atoi(f[4][3:5])
	second, err5 := strconv.Atoi(f[4][6:])
	if month < 0 || month%3 != 0 || err1 != nil || err2 != nil || err3 != nil || err4 != nil || err5 != nil {
		return 0, false
	}
	// Days since 1970, with years that begin in March so that the leap day is
	// the last.
	m := (month/3 + 10) % 12
	y := year
	if m >= 10 {
		y--
	}
	days := 365*y + y/4 - y/100 + y/400 + (m*306+5)/10 + day - 1 - 719468
	return ((int64(days)*24+int64(hour))*60+int64(minute))*60 + int64(second), true
}
