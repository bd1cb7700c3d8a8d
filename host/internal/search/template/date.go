package template

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// dateLayouts are the forms of a date that are known, in the host's time zone
// where they name none.
var dateLayouts = []string{
	time.RFC3339, "2006-01-02", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 -07:00", "2006-01-02 15:04:05 MST",
	"20060102T150405Z", time.ANSIC, time.UnixDate, time.RubyDate, time.RFC822, time.RFC822Z, time.RFC850, time.RFC1123, time.RFC1123Z,
	"02 January 2006", "02 Jan 2006", "January 2, 2006", "January 2 2006", "Jan 2, 2006", "Jan 2 2006",
}

const (
	maxDate = 100  // bytes of a date
	maxUnix = 1e11 // seconds from 1970: 3,000 years
)

// applyDate writes a date in the form of strftime. What is no date stays as it
// is.
func applyDate(r *run, v any, a []any) any {
	r.spend(len(dateLayouts))
	var t time.Time
	switch v := v.(type) {
	case string:
		var ok bool
		if t, ok = readDate(v); !ok {
			return v
		}
	case int64, float64:
		t = time.Unix(int64(max(min(r.number(v), maxUnix), -maxUnix)), 0)
	default:
		return v
	}
	form := "%a, %b %d, %y"
	if len(a) > 0 {
		form = r.text(a[0])
	}
	w := writer{run: r}
	for {
		before, rest, ok := strings.Cut(form, "%")
		w.write(before)
		if !ok {
			return w.String()
		}
		var made string
		made, form = formatDate(t, rest)
		w.write(made)
	}
}

func readDate(s string) (time.Time, bool) {
	if s == "now" || s == "today" {
		return time.Now(), true
	}
	if len(s) > maxDate {
		return time.Time{}, false
	}
	for _, layout := range dateLayouts {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// dateTexts and dateNumbers are what a letter after % means; those numbers have
// at least so many digits.
var (
	dateTexts = map[byte]string{
		'A': "Monday", 'a': "Mon", 'B': "January", 'b': "Jan", 'h': "Jan", 'c': "Mon Jan _2 15:04:05 2006", 'D': "01/02/06", 'x': "01/02/06",
		'F': "2006-01-02", 'T': "15:04:05", 'X': "15:04:05", 'R': "15:04", 'r': "03:04:05 PM", 'p': "PM", 'P': "pm", 'Z': "MST", 'z': "-0700", 'v': "_2-Jan-2006", '+': "Mon Jan _2 15:04:05 MST 2006",
	}
	dateNumbers = map[byte]struct {
		digits int
		blank  bool // padded with spaces
		of     func(time.Time) int
	}{
		'Y': {4, false, time.Time.Year}, 'y': {2, false, func(t time.Time) int { return t.Year() % 100 }}, 'C': {2, false, func(t time.Time) int { return t.Year() / 100 }},
		'm': {2, false, func(t time.Time) int { return int(t.Month()) }}, 'd': {2, false, time.Time.Day}, 'e': {2, true, time.Time.Day}, 'j': {3, false, time.Time.YearDay},
		'H': {2, false, time.Time.Hour}, 'k': {2, true, time.Time.Hour}, 'I': {2, false, hour12}, 'l': {2, true, hour12}, 'M': {2, false, time.Time.Minute}, 'S': {2, false, time.Time.Second},
		'L': {3, false, func(t time.Time) int { return t.Nanosecond() / 1e6 }}, 'N': {9, false, time.Time.Nanosecond}, 's': {1, false, func(t time.Time) int { return int(t.Unix()) }},
		'u': {1, false, func(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }}, 'w': {1, false, func(t time.Time) int { return int(t.Weekday()) }},
		'G': {4, false, func(t time.Time) int { y, _ := t.ISOWeek(); return y }}, 'g': {2, false, func(t time.Time) int { y, _ := t.ISOWeek(); return y % 100 }}, 'V': {2, false, func(t time.Time) int { _, w := t.ISOWeek(); return w }},
		'U': {2, false, func(t time.Time) int { return (t.YearDay() + 6 - int(t.Weekday())) / 7 }}, 'W': {2, false, func(t time.Time) int { return (t.YearDay() + 6 - (int(t.Weekday())+6)%7) / 7 }},
	}
)

func hour12(t time.Time) int { return (t.Hour()+11)%12 + 1 }

// maxDigits bounds the width that a form may ask for.
const maxDigits = 40

// formatDate writes what the form after a % says, and returns the rest of it.
func formatDate(t time.Time, form string) (made, rest string) {
	flag, digits, i := byte(0), -1, 0
	if i < len(form) && strings.IndexByte("-_0^#:", form[i]) >= 0 {
		flag = form[i]
		i++
	}
	from := i
	for i < len(form) && isDigit(form[i]) {
		i++
	}
	if i > from {
		n, err := strconv.Atoi(form[from:i])
		if digits = min(n, maxDigits); err != nil {
			digits = maxDigits
		}
	}
	if i == len(form) {
		return "%" + form, ""
	}
	letter := form[i]
	rest = form[i+1:]
	if layout, ok := dateTexts[letter]; ok {
		if letter == 'z' && flag == ':' {
			layout = "-07:00"
		}
		made = t.Format(layout)
		if flag == '^' || flag == '#' {
			made = strings.ToUpper(made)
		}
		return made, rest
	}
	n, ok := dateNumbers[letter]
	switch {
	case letter == 'n':
		return "\n", rest
	case letter == 't':
		return "\t", rest
	case letter == '%':
		return "%", rest
	case !ok:
		return "%" + form[:i+1], rest
	}
	if digits < 0 {
		digits = n.digits
	}
	switch {
	case flag == '-':
		digits = 0
	case flag == '_' || n.blank && flag != '0':
		return fmt.Sprintf("%*d", digits, n.of(t)), rest
	}
	return fmt.Sprintf("%0*d", digits, n.of(t)), rest
}
