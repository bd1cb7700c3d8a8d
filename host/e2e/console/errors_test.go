package console

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
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

// TestConsoleAskAgain asks a question again that nobody answered, and comes back to one
// that it left before anybody did: the answer is still waited for, and what was typed is
// there once it is stopped.
func TestConsoleAskAgain(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h, w := consoleWire(t, nil)
	var tries atomic.Int32
	w.On("second", func(x *house.Exchange) {
		if tries.Add(1) == 1 {
			x.Say(house.Answered(400, "", `{"error":{"message":"Not at the first time."}}`))
			return
		}
		x.Say(house.Stream + house.Delta("At the second time.") + house.Finish)
	})
	begun := make(chan struct{}, 1)
	w.On("silent", func(x *house.Exchange) {
		begun <- struct{}{}
		x.Wait()
	})
	p := b.open(h.URL, screens[0])
	typed := func(want string) {
		t.Helper()
		got := ""
		if !waittest.Until(func() bool {
			got = evaluate[string](p, `document.querySelector("textarea")?.value ?? "no box"`)
			return got == want
		}) {
			t.Errorf("the box has %q, want %q", got, want)
		}
	}
	p.view("#/ask/w", "Ask")
	p.send("second", "when will you answer")
	p.see(".turn:last-child [role=alert]", "Not at the first time.")
	p.run(chromedp.Click(`//button[. = "Ask again"]`))
	p.see(".turn:last-child", "At the second time.", "ms to the first word")
	typed("")
	if n := evaluate[int](p, `document.querySelectorAll(".turn").length`); n != 2 {
		t.Errorf("the conversation has %d turns, want the question and its answer", n)
	}
	p.run(chromedp.Click(`//button[. = "Edit"]`))
	typed("when will you answer")
	p.run(chromedp.Reload())
	typed("when will you answer")

	p.run(clearQuestion)
	p.send("silent", "is anybody there")
	house.Within(t, begun, "the question")
	p.view("#/start", "Overview")
	p.view("#/ask/w", "Ask your documents") // a new one; the answer to the other is still under way
	typed("")
	p.run(chromedp.Click(`//section[@id="talks"]//a[. = "when will you answer"]`))
	p.see(".turn.user:nth-last-child(2)", "is anybody there")
	p.run(chromedp.Click(`//button[. = "Stop"]`))
	p.see(".turn:last-child", "stopped")
	typed("is anybody there")
	tries.Store(0)
	p.send("second", "")
	p.see(".turn:last-child [role=alert]", "Not at the first time.")
	p.run(chromedp.Reload())
	typed("is anybody there")
}
