package conformance

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const counterManifest = `{"abi":1,"kind":"collector","name":"counter","version":"1.0.0","events":["chat"],"metrics":[
	{"path":"chats","kind":"int","range":[0,9007199254740991],"aggregation":"sum","noData":"always","events":["chat"],"meaning":"Chats."}]}`

// TestCheckCollector breaks each rule of the contract and sees that the check of
// that rule notices.
func TestCheckCollector(t *testing.T) {
	for _, tt := range []struct {
		name, mode string
		want       string // a check that fails
		detail     string
	}{
		{"nothing wrong", "0", "", ""},
		{"takes more and more", "W", "memory", "three quarters of its limit"},
		{"follows any length", "G", "garbage", "out of bounds"},
		{"does not take what it does not know", "N", "later versions", "which has 2 events, took 1"},
		{"says that it took more", "M", "observe", "says that it took 1"},
		{"never forgets", "R", "flush", "after a flush with flag reset"},
		{"any flag ends the window", "F", "later versions", "with flags of a later version"},
		{"counts how often it is asked", "Q", "flush", "asked again"},
		{"out of range", "O", "flush", "metric chats"},
		{"no value", "A", "flush", "promises one always"},
		{"a metric twice", "D", "flush", "metric chats comes twice"},
		{"forgets before it looks", "L", "save and load", "answers 0 and has changed the window"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := check1(t, guestModule(t, "counter", tt.mode, counterManifest), Options{})
			got := failures(r)
			if tt.want == "" && len(got) > 0 || tt.want != "" && !slices.Contains(got, tt.want) || !strings.Contains(details(r), tt.detail) {
				t.Errorf("failed: %q, want %q with %q\n%s", got, tt.want, tt.detail, details(r))
			}
		})
	}
}

func TestMeasureCollector(t *testing.T) {
	f, err := Measure(t.Context(), guestModule(t, "counter", "0", counterManifest), nil, Options{CallTimeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Calls) != 2 || f.Calls[0].NS <= 0 || f.Calls[0].Fuel <= 0 || f.Calls[0].Bytes <= 0 || f.Calls[1].NS <= 0 {
		t.Errorf("Measure = %+v, want the costs of an event and a flush", f)
	}
}
