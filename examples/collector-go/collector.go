package main

import (
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// talk is the window.
type talk struct {
	chats, answered, searches uint64
	latency                   collector.Mean
	bySource                  collector.By[collector.Mean]
}

func (t *talk) Observe(e collector.Event) {
	chat := e.Chat()
	if chat == nil {
		return
	}
	t.chats++
	if chat.Outcome == event.ChatAnswered {
		t.answered++
	}
	t.searches += uint64(chat.Searches)
	t.latency.Add(uint64(chat.Latency))
	t.bySource.At(uint64(chat.SourceName)).Add(uint64(chat.Latency))
}

// Flush writes the metrics by their place in the manifest.
func (t *talk) Flush(m *collector.Metrics) {
	m.Count(0, t.chats)
	m.Count(1, t.answered)
	m.Count(2, t.searches)
	if t.chats > 0 {
		m.Mean(3, t.latency)
	}
	for source, latency := range t.bySource.All() {
		m.For(source).Mean(4, *latency)
	}
}
