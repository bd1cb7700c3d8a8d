package telemetry

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/parley-search/parley/abi"
)

// Bounds of what is sent, in bytes.
const (
	MaxMessage = 32_000  // one message
	MaxBody    = 500_000 // one request, its envelope included
)

// contextPath begins the paths that go to a message's context.
const contextPath = "context."

// An origin is where a message comes from.
type origin struct {
	instance UUID
	epoch    string // of the spool
	window   uint64
	began    time.Time // of the window, cut to the hour
}

// id names a message: the same again for the same data alone, whatever became of the
// data directory, since a platform drops an id that it has seen. body is the message
// without one.
func (o origin) id(c Collector, part int, body []byte) string {
	m := c.Manifest()
	return o.instance.Derive(fmt.Sprintf("%s\n%s\n%s\n%d\n%d\n%d\n%x", m.Name, m.Version, o.epoch, o.window, part, o.began.Unix(), sha256.Sum256(body))).String()
}

// seal writes the values of one collector's window as messages, of which there
// is one, unless it were over [MaxMessage]; part is the number of the first.
func (o origin) seal(c Collector, part int, values []Value) ([]Message, error) {
	var all []Message
	for ; len(values) > 0; part++ {
		n := len(values)
		m, err := o.part(c, part, values)
		for err == nil && len(m.Body) > MaxMessage && n > 1 {
			n = max(1, n*MaxMessage/len(m.Body)*9/10)
			m, err = o.part(c, part, values[:n])
		}
		if err != nil {
			return nil, err
		}
		if len(m.Body) > MaxMessage {
			return nil, fmt.Errorf("metric %s alone makes a message of %d bytes, at most %d", values[0].Metric.Path, len(m.Body), MaxMessage)
		}
		all, values = append(all, m), values[n:]
	}
	return all, nil
}

// A wire message is one of Segment's HTTP API.
type wireMessage struct {
	Type       string         `json:"type"`
	MessageID  string         `json:"messageId"`
	UserID     string         `json:"userId"`
	Timestamp  string         `json:"timestamp"`
	Event      string         `json:"event,omitempty"`
	Context    map[string]any `json:"context"`
	Properties map[string]any `json:"properties,omitempty"`
	Traits     map[string]any `json:"traits,omitempty"`
}

func (o origin) part(c Collector, part int, values []Value) (Message, error) {
	m := c.Manifest()
	context := map[string]any{
		// The platform would put the sender's address here.
		"ip":        "0.0.0.0",
		"collector": map[string]any{"name": m.Name, "version": m.Version},
	}
	tree := map[string]any{}
	for _, v := range values {
		if path, ok := strings.CutPrefix(v.Metric.Path, contextPath); ok {
			put(context, path, v.Value)
		} else {
			put(tree, v.Metric.Path, v.Value)
		}
	}
	w := wireMessage{
		Type: abi.MessageTrack, UserID: o.instance.String(), Timestamp: o.began.UTC().Truncate(time.Hour).Format(time.RFC3339), Context: context,
	}
	if m.Message == abi.MessageIdentify {
		w.Type, w.Traits = abi.MessageIdentify, tree
	} else {
		w.Event, w.Properties = m.Name, tree
	}
	body, err := w.text()
	if err == nil {
		w.MessageID = o.id(c, part, body)
		body, err = w.text()
	}
	if err != nil {
		return Message{}, fmt.Errorf("write message of collector %s: %w", m.Name, err)
	}
	return Message{ID: w.MessageID, Collector: m.Name, Version: m.Version, Window: o.window, Outbound: c.Outbound(), Body: body}, nil
}

func (w *wireMessage) text() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(w)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// put puts v into the tree at path. Manifests have no path that leads through
// another.
func put(tree map[string]any, path string, v any) {
	for {
		name, rest, deeper := strings.Cut(path, ".")
		if !deeper {
			tree[name] = v
			return
		}
		next, ok := tree[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			tree[name] = next
		}
		tree, path = next, rest
	}
}

// Body joins messages to the body of one request.
func Body(messages []Message) []byte {
	var b bytes.Buffer
	b.WriteString(`{"batch":[`)
	for i, m := range messages {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(m.Body)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// maxBatch bounds the messages of one request.
const maxBatch = 64

// Batches parts messages as they are delivered: those that leave the machine,
// a slice for each request.
func Batches(messages []Message) (all [][]Message) {
	var out []Message
	for _, m := range messages {
		if m.Outbound {
			out = append(out, m)
		}
	}
	for len(out) > 0 {
		n := fitting(out[:min(len(out), maxBatch)])
		all, out = append(all, out[:n]), out[n:]
	}
	return all
}

// fitting returns how many of the first messages fit in a request.
func fitting(messages []Message) int {
	size := len(`{"batch":[]}`)
	for i, m := range messages {
		if size += len(m.Body) + 1; size > MaxBody && i > 0 {
			return i
		}
	}
	return len(messages)
}
