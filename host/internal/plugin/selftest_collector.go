package plugin

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/abi/metric"
)

// A testWindow is the input of [abi.SelfTestWindow].
type testWindow struct {
	Events []struct {
		Event  string                     `json:"event"`
		Fields map[string]json.RawMessage `json:"fields"` // by number: a number, or the text that a handle stands for
	} `json:"events"`
}

// maxTestField bounds the number of a field in a self-test.
const maxTestField = 255

// selfTest gives the collector the windows that its own manifest asks for, each
// to a new instance, and returns an error for the first whose metrics are not
// as it says. A window with an event that this host does not have is left out:
// it is for newer ones.
func (c *Collector) selfTest() error {
	for n := range c.manifest.SelfTest {
		t := &c.manifest.SelfTest[n]
		if err := c.selfTestOne(t); err != nil {
			return selfTestFailed(n, t, err)
		}
	}
	return nil
}

func (c *Collector) selfTestOne(t *abi.SelfTest) error {
	var in testWindow
	if err := json.Unmarshal(t.Input, &in); err != nil {
		return fmt.Errorf("its input is not a window: %w", err)
	}
	var records []byte
	var texts []string
	for i, e := range in.Events {
		kind := event.KindOf(e.Event)
		if kind == 0 {
			return nil
		}
		fields, err := testFields(e.Fields, &texts)
		if err != nil {
			return fmt.Errorf("events[%d]: %w", i, err)
		}
		records = binary.LittleEndian.AppendUint16(records, uint16(kind))
		records = binary.LittleEndian.AppendUint16(records, uint16(len(fields)))
		records = append(records, 0, 0, 0, 0)
		for _, f := range fields {
			records = binary.LittleEndian.AppendUint64(records, f)
		}
	}
	i, err := c.Start()
	if err != nil {
		return err
	}
	defer i.Close()
	taken, err := i.Observe(records, len(in.Events))
	if err != nil {
		return err
	}
	if taken < len(in.Events) {
		return fmt.Errorf("%s took %d of %d events", abi.FuncObserve, taken, len(in.Events))
	}
	answer, err := i.Flush(false, nil)
	if err != nil {
		return err
	}
	found, err := c.testMetrics(answer, texts)
	if err != nil {
		return err
	}
	return compare(t.Output, found)
}

// testFields returns the words of a record. A text that is new gets the next
// handle, which is one more than its place in texts.
func testFields(given map[string]json.RawMessage, texts *[]string) (fields []uint64, err error) {
	for name, value := range given {
		at, err := strconv.ParseUint(name, 10, 16)
		if err != nil || at > maxTestField {
			return nil, fmt.Errorf("fields has the member %s, and wants the numbers of fields, from 0 to %d", quote(name), maxTestField)
		}
		for uint64(len(fields)) <= at {
			fields = append(fields, 0)
		}
		var text string
		switch {
		case json.Unmarshal(value, &text) == nil:
			if !slices.Contains(*texts, text) {
				*texts = append(*texts, text)
			}
			fields[at] = uint64(slices.Index(*texts, text) + 1)
		case json.Unmarshal(value, &fields[at]) != nil:
			return nil, fmt.Errorf("fields.%s is %s, and wants a number that is no less than 0, or the text that a handle stands for", name, short(value))
		}
	}
	return fields, nil
}

// testMetrics reads metric records as a host does; what a host would leave out
// is an error.
func (c *Collector) testMetrics(records []byte, texts []string) (map[string]any, error) {
	said := metric.Read(c.manifest.Metrics, records, func(_ string, handle uint64) (string, bool) {
		if handle == 0 || handle > uint64(len(texts)) {
			return "", false
		}
		return texts[handle-1], true
	})
	if said.Wrong > 0 {
		return nil, fmt.Errorf("what %s answers is wrong: %s", abi.FuncFlush, said.Problems[0])
	}
	found := map[string]any{}
	for i, given := range said.Given {
		if given {
			found[c.manifest.Metrics[i].Path] = said.Values[i]
		}
	}
	return found, nil
}
