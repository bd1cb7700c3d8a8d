package console

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// TestConsoleErrors has a provider refuse and break off an answer: the page shows its
// message, also one of which too much came, and where to read on, and nothing of the
// JSON around it.
func TestConsoleErrors(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h, w := consoleWire(t, nil)
	w.On("unknown", func(x *house.Exchange) {
		x.Say(house.Answered(400, "", `{"error":{"message":"There is no “unknown” here.","type":"x"}}`))
	})
	w.On("talkative", func(x *house.Exchange) {
		x.Say(house.Answered(400, "", `{"error":{"message":"A \"long\" story\nbegins.`+strings.Repeat(" And so on.", 100_000)+`"}}`))
	})
	w.On("breaks", func(x *house.Exchange) {
		x.Say(house.Stream + house.Delta("the beginning") + `data: {"error":{"message":"The cluster fell over.","code":500}}` + "\n\n")
	})
	p := b.open(h.URL, screens[0])
	p.view("#/ask/w", "Ask")
	for _, tt := range []struct{ model, says, code string }{
		{"unknown", "There is no “unknown” here.", "llm_provider_rejected_request"},
		{"talkative", "A \"long\" story", "llm_provider_rejected_request"},
		{"breaks", "The cluster fell over.", "llm_provider_error"},
	} {
		p.send(tt.model, "go on")
		p.see(".turn:last-child [role=alert]", tt.says)
		if text := p.text(".turn:last-child [role=alert]"); strings.ContainsAny(text, `{}\`) {
			t.Errorf("%s: the page shows JSON: %.200s", tt.model, text)
		}
		if link := evaluate[string](p, `document.querySelector(".turn:last-child [role=alert] a")?.href ?? ""`); !strings.HasSuffix(link, "errors.md#error-"+tt.code) {
			t.Errorf("%s: the error leads to %q, want to what %s means", tt.model, link, tt.code)
		}
		p.run(clearQuestion)
	}
}
