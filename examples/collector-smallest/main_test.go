package main

import (
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestChats(t *testing.T) {
	d := plugintest.NewCollector(t, &chats{}, "manifest.json")
	plugintest.Emit(d, event.Chat{Outcome: event.ChatAnswered, Rounds: 2})
	plugintest.Emit(d, event.Chat{Outcome: event.ChatLeft})
	plugintest.Emit(d, event.Chat{Outcome: event.ChatAnswered})
	got := d.Flush()
	if got["chats.answered"] != int64(2) || got["chats.left"] != int64(1) || got["chats.failed"] != int64(0) {
		t.Errorf("metrics = %v, want 2 answered, 1 left, 0 failed", got)
	}
}
