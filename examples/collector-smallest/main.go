// Command chats is the smallest collector there can be: it counts chats by how
// they ended.
package main

import (
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// chats is an empty window when it is zero, and has no pointers in it.
type chats struct {
	byOutcome collector.Tally[event.ChatOutcome]
}

func (c *chats) Observe(e collector.Event) {
	if chat := e.Chat(); chat != nil {
		c.byOutcome.Add(chat.Outcome)
	}
}

func (c *chats) Flush(m *collector.Metrics) {
	// The manifest lists the metrics in the order of the outcomes.
	for o := event.ChatAnswered; o <= event.ChatLeft; o++ {
		m.Count(int(o-event.ChatAnswered), c.byOutcome.Count(o))
	}
}

func init() { collector.Register(&chats{}) }

func main() {}
