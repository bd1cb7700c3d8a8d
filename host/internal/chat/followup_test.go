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
		{"am Sonntag", "am Sonntag?", "Wann öffnet das Bad?", "am Sonntag öffnet Bad"},
		{"Wieso?", "Wieso?", "Wann schließt die Kita?", "Wieso? schließt Kita"},
		{"Gibt es einen Parkplatz?", "Gibt es einen Parkplatz?", "Wann öffnet das Bad?", "Gibt es einen Parkplatz?"},
		{"how long does it take to bake a rhubarb cake", "How long does it take to bake a rhubarb cake?", before, "how long does it take to bake a rhubarb cake"},
		{"opening hours", "What are the opening hours?", before, "opening hours"}, // it asks by itself
		{"and for Linux?", "and for Linux?", "", "and for Linux?"},
		{"", "and for Linux?", before, ""},
	} {
		if got, changed := withSubject(tt.q, tt.last, tt.before); got != tt.want || changed != (tt.want != tt.q) {
			t.Errorf("%q for %q behind %q: %q, %v; want %q", tt.q, tt.last, tt.before, got, changed, tt.want)
		}
	}
}

// TestSubjectOfSeveral: behind several questions that lean on the ones before, the subject is that of the last one
// that does not.
func TestSubjectOfSeveral(t *testing.T) {
	user := func(text string) string {
		return `{"role":"user","content":"` + text + `"},{"role":"assistant","content":"Yes."}`
	}
	for _, tt := range []struct{ messages, last, before string }{
		{user("How long does Cotton run?") + "," + user("And Wool?") + `,{"role":"user","content":"and Silk?"}`, "and Silk?", "How long does Cotton run?"},
		{user("And Wool?") + `,{"role":"user","content":"and Silk?"}`, "and Silk?", "And Wool?"},
		{`{"role":"user","content":"Hello"}`, "Hello", ""},
	} {
		c := conversation{messages: []byte(tt.messages)}
		if last, before := c.questions(); last != tt.last || before != tt.before {
			t.Errorf("questions of %s: %q and %q, want %q and %q", tt.messages, last, before, tt.last, tt.before)
		}
	}
}
