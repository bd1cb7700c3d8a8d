// Package collector is the Go SDK for collector plugins.
//
// A collector turns events into the metrics of a window. Events are numbers in
// named fields (package abi/event is the catalogue, abi/README.md prints it);
// the metrics are those that the plugin's manifest lists, by their place in it.
// The whole of a plugin's main.go, beside its type:
//
//	func init() { collector.Register(&chats{}) }
//	func main() {}
//
// A collector's type is a struct without pointers whose zero value is an empty
// window. The SDK does the rest: it zeroes the struct when the window ends,
// saves its bytes once a minute and loads them after a fault, a restart or a
// change of version.
//
// # Versions
//
// A new version of a collector goes on with the window of the one before it
// where its struct begins with the same fields: add fields at the end. With
// other fields the host sends what the old version had, and the new one begins
// anew.
package collector

import "github.com/parley-search/parley/abi/event"

// A Collector makes metrics of events.
type Collector interface {
	// Observe takes an event. It is called for the events that the manifest
	// names; [Event] says which one it is.
	Observe(e Event)

	// Flush writes the window's metrics. What it changes in the collector is
	// undone: it may be asked for a look at any time.
	Flush(m *Metrics)
}

// An Event is one thing that happened. It is good until Observe returns.
type Event struct{ record event.Record }

// Kind says which event it is.
func (e Event) Kind() event.Kind { return e.record.Kind }

// viewAs returns the fields of e where it is of that kind. The methods of Event in
// events.go call it.
func viewAs[E event.Type](e Event, kind event.Kind) *E {
	if e.record.Kind != kind {
		return nil
	}
	return event.View[E](e.record)
}
