package main

import (
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestTalk(t *testing.T) {
	d := plugintest.NewCollector(t, &talk{}, "manifest.json")
	plugintest.Emit(d, event.Chat{Outcome: event.ChatAnswered, Searches: 2, Latency: 100})
	plugintest.Emit(d, event.Chat{Outcome: event.ChatLeft, Searches: 1, Latency: 300})
	got := d.Flush()
	if got["talk.chats"] != int64(2) || got["talk.answered"] != int64(1) || got["talk.searches"] != int64(3) || got["talk.latency"] != float64(200) {
		t.Errorf("metrics = %v, want 2 chats, 1 answered, 3 searches, 200 ms on average", got)
	}
}
