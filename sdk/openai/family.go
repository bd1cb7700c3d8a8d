package openai

import (
	"strings"

	"github.com/parley-search/parley/sdk/rawjson"
)

// A Family is what the name of one of OpenAI's models tells of it. Names that
// are not OpenAI's have the zero Family and get what every server takes.
type Family struct {
	o     bool // o1, o3, …
	early bool // o1-mini, o1-preview
	chat  bool // gpt-5-chat-latest and the like, which do not reason
	gpt   int  // gpt-5.4: 504
}

// FamilyOf reads the name of a model, which may be a fine-tuned one
// ("ft:gpt-4o:...") or stand behind a gateway's prefix ("openai/gpt-5").
func FamilyOf(model string) (f Family) {
	model = strings.TrimPrefix(model, "ft:")
	model = model[strings.LastIndexByte(model, '/')+1:]
	if rest, ok := strings.CutPrefix(model, "gpt"); ok {
		major, rest := cutNumber(strings.TrimPrefix(rest, "-"))
		minor := 0
		if after, ok := strings.CutPrefix(rest, "."); ok {
			minor, rest = cutNumber(after)
		} else if major > 20 { // gpt-35-turbo: Azure's names had no dots
			major, minor = major/10, major%10
		}
		f.gpt = major*100 + min(minor, 99)
		f.chat = strings.HasPrefix(rest, "-chat")
		return f
	}
	if rest, ok := strings.CutPrefix(model, "o"); ok {
		n, rest := cutNumber(rest)
		f.o = n > 0 && (rest == "" || rest[0] == '-')
		f.early = f.o && n == 1 && (strings.HasPrefix(rest, "-mini") || strings.HasPrefix(rest, "-preview"))
	}
	return f
}

// cutNumber cuts a decimal number off s.
func cutNumber(s string) (n int, rest string) {
	for len(s) > 0 && s[0] >= '0' && s[0] <= '9' && n < 1000 {
		n, s = n*10+int(s[0]-'0'), s[1:]
	}
	return n, s
}

// Known reports whether the name told anything.
func (f Family) Known() bool { return f.o || f.gpt > 0 }

// Reasons reports whether a model refuses max_tokens, as those that reason do.
func (f Family) Reasons() bool { return f.o || f.gpt >= 500 && !f.chat }

// SystemRole returns the role of instructions: developer since o1, system
// before, and the first two of that line took neither.
func (f Family) SystemRole() string {
	switch {
	case f.early:
		return "user"
	case f.o || f.gpt >= 500:
		return "developer"
	}
	return "system"
}

// RefusesToolsWhileReasoning reports whether chat completions of this model
// take function tools only with reasoning_effort "none".
func (f Family) RefusesToolsWhileReasoning() bool { return f.gpt >= 504 && !f.chat }

// Fit makes a body fit for a model of the family: the role of instructions,
// the name of the limit, and no reasoning where it rules out tools.
func (f Family) Fit(body *rawjson.Edit) {
	body.Set("messages", SystemAs(f.SystemRole(), body.Get("messages")))
	if f.Reasons() {
		body.Rename("max_tokens", "max_completion_tokens")
	}
	if len(body.Get("tools")) > 0 && f.RefusesToolsWhileReasoning() {
		body.Set("reasoning_effort", rawjson.Value(`"none"`))
	}
}
