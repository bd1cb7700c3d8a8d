package chat

import "testing"

func TestWithSubject(t *testing.T) {
	const before = "How do I install the printer driver?"
	for _, tt := range []struct{ q, last, before, want string }{
		{"and for Linux?", "and for Linux?", before, "and for Linux? install printer driver"},
		{"Linux", "What about Linux?", before, "Linux install printer driver"},
		{"how long does it take", "How long does it take?", before, "how long does it take install printer driver"},
		{"und unter Linux", "Und unter Linux?", "Wie installiere ich den Treiber?", "und unter Linux installiere Treiber"},
		{"Inka 220 Linux driver", "and for Linux?", before, "Inka 220 Linux driver"}, // the model resolved it
		{"opening hours", "What are the opening hours?", before, "opening hours"},    // it asks by itself
		{"and for Linux?", "and for Linux?", "", "and for Linux?"},
		{"", "and for Linux?", before, ""},
	} {
		if got, changed := withSubject(tt.q, tt.last, tt.before); got != tt.want || changed != (tt.want != tt.q) {
			t.Errorf("%q for %q behind %q: %q, %v; want %q", tt.q, tt.last, tt.before, got, changed, tt.want)
		}
	}
}
