package main

import (
	"strconv"

	"github.com/parley-search/parley/sdk/rawjson"
)

// A thinking is what a request says of it: the member thinking, and the effort
// of output_config. Either may be absent.
type thinking struct{ config, effort rawjson.Value }

// on reports whether the request asks the model to think.
func (t thinking) on() bool {
	return len(t.config) > 0 && t.config.Get("type").String() != "disabled"
}

// minBudget is the least that may be set aside for thinking.
const minBudget = 1024

// thinkingOf maps reasoning_effort, unless the request has the API's own
// thinking. limit is max_tokens, which the thinking counts towards.
//
// There is none where the API would refuse it: with a forced call, and by
// budget where the turn under way has calls that no thinking precedes (bare),
// as it does when a client with functions of its own sends it back.
func thinkingOf(chat rawjson.Edit, f family, limit int64, forced, bare bool) thinking {
	if own := chat.Get("thinking"); own.Kind() == rawjson.Object {
		typ := own.Get("type").String()
		if typ != "disabled" && forced || typ == "enabled" && bare {
			return thinking{}
		}
		return thinking{config: own}
	}
	effort := chat.Get("reasoning_effort").String()
	if effort == "" || forced || !f.thinks() {
		return thinking{}
	}
	if f.adaptive() {
		return adaptiveOf(f, effort)
	}
	budget, ok := budgets[effort]
	// A quarter is left for the answer.
	if budget = min(budget, max(limit*3/4, minBudget)); !ok || budget >= limit || bare {
		return thinking{}
	}
	config := strconv.AppendInt([]byte(`{"type":"enabled","budget_tokens":`), budget, 10)
	return thinking{config: append(config, '}')}
}

// budgets are the tokens for each reasoning_effort; none is none.
var budgets = map[string]int64{
	"minimal": minBudget, "low": 2048, "medium": 8192, "high": 16_384, "xhigh": 24_000, "max": 24_000,
}

func adaptiveOf(f family, effort string) (t thinking) {
	switch effort {
	case "none":
		// Newer models think unless told otherwise, and some refuse to be.
		if f >= 500 {
			t.effort = rawjson.Value(`"low"`)
		}
		return t
	case "minimal":
		effort = "low"
	case "xhigh":
		if f < 407 {
			effort = "high"
		}
	case "low", "medium", "high", "max":
	default:
		return t
	}
	t.config, t.effort = rawjson.Value(`{"type":"adaptive"}`), rawjson.Quote(effort)
	if f.summarises() {
		t.config = rawjson.Value(`{"type":"adaptive","display":"summarized"}`)
	}
	return t
}
