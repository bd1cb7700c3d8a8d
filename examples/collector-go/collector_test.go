package main

import (
	"fmt"
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestTalk(t *testing.T) {
	d := plugintest.NewCollector(t, &talk{}, "manifest.json")
	plugintest.Emit(d, event.Chat{Outcome: event.ChatAnswered, Searches: 2, Latency: 100, SourceName: d.Handle("source", "ollama")})
	plugintest.Emit(d, event.Chat{Outcome: event.ChatLeft, Searches: 1, Latency: 300})
	got := d.Flush()
	if got["talk.chats"] != int64(2) || got["talk.answered"] != int64(1) || got["talk.searches"] != int64(3) || got["talk.latency"] != float64(200) {
		t.Errorf("metrics = %v, want 2 chats, 1 answered, 3 searches, 200 ms on average", got)
	}
	if by := fmt.Sprint(got["talk.latency_by_source"]); by != "map[ollama:100]" {
		t.Errorf("talk.latency_by_source = %v, want 100 ms of ollama; who answered the other one is not known", by)
	}
}

// TestTalkReference holds random windows to what the manifest says, in plain Go.
func TestTalkReference(t *testing.T) {
	d := plugintest.NewCollector(t, &talk{}, "manifest.json")
	one := func(any) any { return uint64(1) }
	d.Compare(plugintest.Reference{
		"talk.chats":             one,
		"talk.answered":          func(e any) any { return e.(event.Chat).Outcome == event.ChatAnswered },
		"talk.searches":          d.Says("Chat.Searches"),
		"talk.latency":           d.Says("Chat.Latency"),
		"talk.latency_by_source": d.SaysAt("Chat.SourceName", "Chat.Latency"),
	})
}
