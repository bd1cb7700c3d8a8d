package plugin_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

// TestCollectorSelfTest holds the metrics of a window against what a manifest
// says of it. The guest counts events, and goes wrong as their remotes order.
func TestCollectorSelfTest(t *testing.T) {
	rt := open(t, nil)
	orders := func(n string) string { return `{"events":[{"event":"network","fields":{"1":` + n + `}}]}` }
	for _, tt := range []struct {
		name  string
		tests []abi.SelfTest
		want  string // in the error; empty: it passes
	}{
		{"two events", one("window", `{"events":[{"event":"chat"},{"event":"chat","fields":{"0":1}}]}`, `{"chats.total":2}`), ""},
		{"each in a window of its own", append(one("window", orders("0"), `{"chats.total":1}`), one("window", orders("0"), `{"chats.total":1}`)...), ""},
		{"no event", one("window", `{}`, `{"chats.total":0}`), ""},
		{"a text", one("window", `{"events":[{"event":"http_request","fields":{"0":"curl/8.5.0"}}]}`, `{"chats.total":1,"chats.other":null}`), ""},
		{"another number", one("window", orders("0"), `{"chats.total":2}`), `self-test "it", call window: chats.total: want 2, got 1`},
		{"an event of a newer host", one("window", `{"events":[{"event":"from_a_newer_host"}]}`, `{"chats.total":7}`), ""},
		{"a trap", one("window", orders("1"), `{}`), "trap"},
		{"no end", one("window", orders("2"), `{}`), "deadline"},
		{"a trap in flush", one("window", orders("11"), `{}`), "trap"},
		{"a metric that there is not", one("window", orders("13"), `{}`), "is not in the manifest"},
		{"another tag", one("window", orders("14"), `{}`), "metric chats.total"},
		{"a huge length", one("window", orders("15"), `{}`), "not metric records"},
		{"the metric twice", one("window", orders("16"), `{}`), "comes twice"},
		{"bits of NaN", one("window", orders("17"), `{}`), "metric chats.total"},
		{"no window", one("window", `{"events":1}`, `{}`), "its input is not a window"},
		{"a field by its name", one("window", `{"events":[{"event":"chat","fields":{"outcome":1}}]}`, `{}`), `the member "outcome", and wants the numbers of fields`},
		{"a field too far", one("window", `{"events":[{"event":"chat","fields":{"256":1}}]}`, `{}`), "from 0 to 255"},
		{"a field below zero", one("window", orders("-1"), `{}`), "fields.1 is -1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := collectorManifest()
			m["selfTest"] = tt.tests
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			module, err := plugin.Pack(guest(t, "collector"), b)
			if err != nil {
				t.Fatal(err)
			}
			timeout := time.Minute
			if tt.want == "deadline" {
				timeout = 300 * time.Millisecond
			}
			c, err := plugin.LoadCollector(t.Context(), rt, module, "test", plugin.Options{CallTimeout: timeout})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("LoadCollector: %v, want %q", err, tt.want)
			}
			if c == nil != (err != nil) {
				t.Errorf("LoadCollector = %v, %v", c, err)
			}
		})
	}
	m, _ := collectorManifest()
	m["selfTest"] = one("encode", `{}`, `{}`)
	if _, err := readCollector(t, m); err == nil || !strings.Contains(err.Error(), `must be one of: ["window"]`) {
		t.Errorf("a collector whose self-test calls encode: %v", err)
	}
}
