package plugintest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/pattern"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/sdk/provider"
)

// A Driver calls one provider as a host does.
type Driver struct {
	guest provider.Guest
	input region
}

// A region is the memory in which a host writes the inputs of all calls. It is
// overwritten after each call, so that what a plugin kept of an input shows.
type region []byte

// call makes a call of f with in.
func (r *region) call(in []byte, f func([]byte) ([]byte, error)) ([]byte, error) {
	*r = append((*r)[:0], in...)
	out, err := f(*r)
	out = bytes.Clone(out) // it may be a part of the input
	for i := range *r {
		(*r)[i] = poison
	}
	return out, err
}

// poison is a byte that is in no UTF-8.
const poison = 0xfd

// New returns a driver of p.
func New[S any](p provider.Provider[S]) *Driver { return &Driver{guest: provider.NewGuest(p)} }

// Encode asks for the HTTP request of one round.
func (d *Driver) Encode(r abi.EncodeRequest) (abi.EncodeResponse, error) {
	var out abi.EncodeResponse
	in, err := json.Marshal(r)
	if err != nil {
		return out, fmt.Errorf("write encode input: %w", err)
	}
	b, err := d.input.call(in, d.guest.Encode)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return out, fmt.Errorf("read encode output %.200q: %w", b, err)
	}
	return out, nil
}

// Fail asks what a case that is not a success means.
func (d *Driver) Fail(c response.Case) (*response.Failure, error) {
	in, err := json.Marshal(c.ErrorRequest())
	if err != nil {
		return nil, fmt.Errorf("write error input: %w", err)
	}
	b, err := d.input.call(in, d.guest.Error)
	if err != nil {
		return nil, err
	}
	var e abi.ProviderError
	if err := json.Unmarshal(b, &e); err != nil {
		return nil, fmt.Errorf("read error output %.200q: %w", b, err)
	}
	return response.NewFailure(c.Status, e), nil
}

// List asks for the request of a case that is a list, and reads the case's response
// by what came.
func (d *Driver) List(c response.Case) (*response.Described, error) {
	b, err := d.input.call(c.Input, d.guest.Encode)
	if err != nil {
		return nil, err
	}
	var out abi.EncodeResponse
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("read encode output %.200q: %w", b, err)
	}
	return c.Describe(out)
}

// A Stream is one response under way: what the host keeps of it.
type Stream struct {
	*response.Aggregate
	driver  *Driver
	state   []byte
	first   bool
	matcher *pattern.Matcher // nil: the host takes no patterns
	matched int              // events that were not decoded
}

// Stream begins a response.
func (d *Driver) Stream() *Stream {
	return &Stream{driver: d, first: true, Aggregate: response.New()}
}

// patternStream begins a response of which the host takes patterns.
func (d *Driver) patternStream() *Stream {
	s := d.Stream()
	s.matcher = &pattern.Matcher{}
	return s
}

// Decode hands over events; flags are abi.FlagLast and abi.FlagCancelled.
func (s *Stream) Decode(flags byte, events ...abi.Event) error {
	if s.matcher != nil {
		records, rest := s.matcher.AppendRecords(nil, events)
		s.matched += len(events) - len(rest)
		if err := s.Add(records); err != nil || len(events) > 0 && len(rest) == 0 && flags == 0 {
			return err
		}
		events = s.matcher.BeginCall(rest)
		flags |= abi.FlagPatterns
	}
	if s.first {
		flags |= abi.FlagFirst
		s.first = false
	}
	out, err := s.driver.input.call(abi.AppendDecodeInput(nil, s.state, flags, events), s.driver.guest.Decode)
	if err != nil {
		return err
	}
	state, records, err := abi.DecodeOutput(out)
	if err != nil {
		return fmt.Errorf("read decode output: %w", err)
	}
	s.state = append(s.state[:0], state...)
	if err := s.Add(records); err != nil {
		return err
	}
	if s.matcher != nil {
		if _, err := s.matcher.LearnFrom(records); err != nil {
			return fmt.Errorf("read pattern: %w", err)
		}
	}
	if flags&(abi.FlagLast|abi.FlagCancelled) == abi.FlagLast {
		s.End()
	}
	return nil
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

// Options are a workspace's, given as the JSON of an object, for an encode
// request.
func Options(object string) map[string]abi.RawJSON {
	var all map[string]abi.RawJSON
	if err := json.Unmarshal([]byte(object), &all); err != nil {
		panic("plugintest: options are not a JSON object: " + err.Error())
	}
	return all
}
