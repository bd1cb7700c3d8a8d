package limit

import "time"

// A Period is how often a budget begins anew: by the calendar, in UTC.
type Period string

// The periods. A week begins on Monday; Total never ends.
const (
	Hour  Period = "hour"
	Day   Period = "day"
	Week  Period = "week"
	Month Period = "month"
	Total Period = "total"
)

var periods = []Period{Hour, Day, Week, Month, Total}

// A Span is one period of the calendar.
type Span struct {
	Period Period
	Start  int64 // in Unix time; 0 of Total
}

// At returns the span of p that t is in.
func (p Period) At(t time.Time) Span {
	t = t.UTC()
	year, month, day := t.Date()
	switch p {
	case Hour:
		t = t.Truncate(time.Hour)
	case Day:
		t = time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	case Week:
		t = time.Date(year, month, day-(int(t.Weekday())+6)%7, 0, 0, 0, 0, time.UTC)
	case Month:
		t = time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	default:
		return Span{Period: Total}
	}
	return Span{p, t.Unix()}
}

// End is when s ends; the zero time where it never does.
func (s Span) End() time.Time {
	start := time.Unix(s.Start, 0).UTC()
	switch s.Period {
	case Hour:
		return start.Add(time.Hour)
	case Day:
		return start.AddDate(0, 0, 1)
	case Week:
		return start.AddDate(0, 0, 7)
	case Month:
		return start.AddDate(0, 1, 0)
	}
	return time.Time{}
}

// Before is the span before s; ok is false where there is none.
func (s Span) Before() (before Span, ok bool) {
	if s.Period == Total {
		return Span{}, false
	}
	return s.Period.At(time.Unix(s.Start-1, 0)), true
}
