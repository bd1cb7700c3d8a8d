package plugintest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
)

// A Driver calls one provider as a host does.
type Driver struct{ guest provider.Guest }

// New returns a driver of p.
func New[S any](p provider.Provider[S]) *Driver { return &Driver{provider.NewGuest(p)} }

// Encode asks for the HTTP request of one round.
func (d *Driver) Encode(r abi.EncodeRequest) (abi.EncodeResponse, error) {
	var out abi.EncodeResponse
	in, err := json.Marshal(r)
	if err != nil {
		return out, fmt.Errorf("write encode input: %w", err)
	}
	b, err := d.guest.Encode(in)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return out, fmt.Errorf("read encode output %.200q: %w", b, err)
	}
	return out, nil
}

// A Failure is what a response that is no success was taken for.
type Failure struct {
	Status       int    `json:"status"`
	Kind         string `json:"kind"`
	Message      string `json:"message"`
	ProviderCode string `json:"provider_code,omitempty"`
	RetryAfterMS *int64 `json:"retry_after_ms"`
}

// Fail asks what a response that is no success means. Header names may have
// any case.
func (d *Driver) Fail(status int, headers map[string]string, body []byte) (Failure, error) {
	r := abi.ErrorRequest{Status: status, Headers: map[string]string{}, Body: string(body)}
	for name, value := range headers {
		r.Headers[strings.ToLower(name)] = value
	}
	in, err := json.Marshal(r)
	if err != nil {
		return Failure{}, fmt.Errorf("write error input: %w", err)
	}
	b, err := d.guest.Error(in)
	if err != nil {
		return Failure{}, err
	}
	var e abi.ProviderError
	if err := json.Unmarshal(b, &e); err != nil {
		return Failure{}, fmt.Errorf("read error output %.200q: %w", b, err)
	}
	f := Failure{Status: status, Kind: e.Kind, Message: e.Message, ProviderCode: e.ProviderCode}
	if e.RetryAfterMS > 0 {
		f.RetryAfterMS = &e.RetryAfterMS
	}
	return f, nil
}

// A Stream is one response under way: what the host keeps of it.
type Stream struct {
	Aggregate
	driver *Driver
	state  []byte
	first  bool
}

// Stream begins a response.
func (d *Driver) Stream() *Stream {
	return &Stream{driver: d, first: true, Aggregate: Aggregate{ToolCalls: []ToolCall{}}}
}

// Decode hands over events; flags are abi.FlagLast and abi.FlagCancelled.
func (s *Stream) Decode(flags byte, events ...abi.Event) error {
	if s.first {
		flags |= abi.FlagFirst
		s.first = false
	}
	out, err := s.driver.guest.Decode(abi.AppendDecodeInput(nil, s.state, flags, events))
	if err != nil {
		return err
	}
	state, records, err := abi.DecodeOutput(out)
	if err != nil {
		return fmt.Errorf("read decode output: %w", err)
	}
	s.state = append(s.state[:0], state...)
	return s.add(records)
}

// Run decodes a whole body, framed by [Frame], one event a call.
func (d *Driver) Run(body []byte) (*Stream, error) {
	s := d.Stream()
	for _, e := range Frame(body) {
		if err := s.Decode(0, e); err != nil {
			return s, err
		}
	}
	return s, s.Decode(abi.FlagLast)
}
