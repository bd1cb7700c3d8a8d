package chat_test

import (
	"strings"
	"testing"
)

// TestParts: parts that are more than text reach a provider that accepts them, as they
// were written, and are refused by name elsewhere.
func TestParts(t *testing.T) {
	const image = `{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}`
	ask := func(role, part string) string {
		return `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"` + role + `","content":[{"type":"text","text":"b"},` + part + `]}]}`
	}
	f := newFixture(t, say("text:x", "finish:stop"))
	f.source.Is.Accepts = []string{"image_url"}
	f.ask(t, ask("user", image))
	if got := string(f.source.Requests()[0].Chat); !strings.Contains(got, image) {
		t.Errorf("the provider is asked %s", got)
	}
	if e := f.refuse(t, ask("user", `{"type":"input_audio","input_audio":{}}`)); e.Param != "messages[1].content[1]" || !strings.Contains(e.Message, "input_audio") || !strings.Contains(e.Message, "image_url are taken") {
		t.Errorf("audio: %v at %s", e, e.Param)
	}
	if e := f.refuse(t, ask("system", image)); !strings.Contains(e.Message, "messages[1].content[1].type") {
		t.Errorf("an image of the system: %v", e)
	}
	f.source.Is.Accepts = nil
	if e := f.refuse(t, ask("user", image)); e.Reason != "unsupported_content_part" || !strings.Contains(e.Message, "only text is taken") {
		t.Errorf("without accepts: %v, reason %q", e, e.Reason)
	}
}
