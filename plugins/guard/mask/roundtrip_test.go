package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parley-search/parley/sdk/guard"
	"github.com/parley-search/parley/sdk/plugintest"
)

// TestRoundTrip masks texts that are put together at random, and lets the model say them again: cut in any
// way, as a whole, in arguments, and with other letters in the placeholders. The client gets what it wrote.
func TestRoundTrip(t *testing.T) {
	d := plugintest.NewGuard(t, &mask{}, "manifest.json")
	f := fill{rand.New(rand.NewPCG(49, 7))}
	plain := []string{
		"<EMAIL_1>", "<EMAIL_2>", "<email_1>", "&lt;PHONE_1&gt;", `\<IBAN\_1\>`, "<<CARD_1>>", "<EMAIL_", "<", ">", "&lt;", "&", "\\", "_", "_1>", "EMAIL_1",
		`{"to": "`, `", "n": [1, 2]}`, "https://host.example/?mail=", "&x=", "mailto:", "`", "```go\nx := \"", "\"\n```", "<a href=\"", "\">", "(", ")", "[", "](", "|", ", ", " ", "\n", "\t", "; ",
		"schreiben Sie an ", "请发给", "。", "напишите ", "اكتب إلى ", "é", "😀", "0", "7", "-", "+", "@", ".", "Tel. ", "tél. ", "手机", "IBAN ", "ip=",
	}
	values := []func() string{
		func() string { return f.email("") }, func() string { return f.iban("") }, func() string { return f.card("") }, func() string { return f.ip("") },
		func() string {
			return strings.NewReplacer("⟦PHONE|", "", "⟧", "").Replace(f.phone(f.one("en", "de", "fr", "es", "it", "pt", "pl", "zh")))
		},
		func() string { return f.id(f.one("en", "de", "fr", "es", "it", "pt", "pl", "zh")) },
	}
	for range plugintest.CutsWanted(2000) / 20 {
		var b strings.Builder
		var said []string
		for range 1 + f.rnd.IntN(14) {
			switch f.rnd.IntN(5) {
			case 0, 1:
				said = append(said, values[f.rnd.IntN(len(values))]())
				b.WriteString(said[len(said)-1])
			case 2:
				if len(said) > 0 {
					b.WriteString(said[f.rnd.IntN(len(said))])
				}
			default:
				b.WriteString(f.one(plain...))
			}
		}
		text := b.String()
		d.Begin()
		masked := d.Whole(guard.Question, plugintest.User(text)).Text()
		if got := d.Cuts(guard.Answer, masked, 10).Text(); got != text {
			t.Fatalf("%q was masked as %q, and came back as %q", text, masked, got)
		}
		if got := d.Cuts(guard.Reasoning, masked, 5).Text(); got != text {
			t.Fatalf("%q was masked as %q, and came back in reasoning as %q", text, masked, got)
		}
		if got := d.Whole(guard.Arguments, plugintest.Argument(masked)).Text(); got != text {
			t.Fatalf("%q was masked as %q, and came back in arguments as %q", text, masked, got)
		}
		if again := d.Whole(guard.Question, plugintest.User(text)).Text(); again != masked {
			t.Fatalf("%q was masked as %q, and in the next request as %q", text, masked, again)
		}
		// No other text comes back where a model writes placeholders in its own way.
		for _, how := range []func(string) string{strings.ToLower, func(s string) string { return strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(s) }, func(s string) string { return strings.ReplaceAll(s, "_", `\_`) }} {
			for _, e := range placeholdersIn(masked) {
				if strings.Contains(text, e) {
					continue // the user wrote it
				}
				want := d.Cuts(guard.Answer, e, 3).Text()
				if got := d.Cuts(guard.Answer, "so "+how(e)+" it is", 5).Text(); got != "so "+want+" it is" {
					t.Fatalf("the placeholder %q, written %q, came back as %q, want %q", e, how(e), got, want)
				}
			}
		}
	}
}

// placeholdersIn lists the placeholders in a text, as the table writes them.
func placeholdersIn(text string) (all []string) {
	for _, part := range strings.Split(text, "<")[1:] {
		if name, _, ok := strings.Cut(part, ">"); ok && strings.Contains(name, "_") && strings.ToUpper(name) == name && !strings.ContainsAny(name, " \\&\n") {
			all = append(all, "<"+name+">")
		}
	}
	return all
}
