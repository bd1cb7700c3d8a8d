package openai

import (
	"bytes"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// notJSON takes an event whose data is not JSON.
func (d *Decoder) notJSON(s *State, e provider.Event, out *provider.Out) error {
	data := bytes.TrimSpace(e.Data)
	if rest, twice := bytes.CutPrefix(data, []byte("data:")); twice && !bytes.HasPrefix(rest, []byte("data:")) {
		return d.decode(s, provider.Event{Type: e.Type, Data: bytes.TrimSpace(rest)}, out) // a gateway framed what was framed
	}
	switch {
	case len(data) == 0 || string(e.Type) == "ping":
		return nil
	case string(data) == "[DONE]":
		return d.done(s, out)
	case string(e.Type) == "error" || len(data) > 6 && data[0]|0x20 == 'e' && string(data[1:6]) == "rror:":
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: excerptBody(data)}
	case s.Odd.Skip(s.Seen, data):
		return nil
	case data[0] == '<':
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the provider answered with a web page, not with a stream of events; check baseUrl"}
	}
	return errNotJSON
}

var errNotJSON = provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the provider sent an event that is not JSON"}

// lines takes events that came as the lines of one: some servers put one line end
// between them.
func (d *Decoder) lines(s *State, typ, data []byte, out *provider.Out) error {
	for len(data) > 0 && !s.Done {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := d.decode(s, provider.Event{Type: typ, Data: line}, out); err != nil {
				return err
			}
		}
		data = rest
	}
	return nil
}

// mend returns data that is not JSON as lines that may be, and whether it differs:
// several documents on a line each, without what JSON does not have.
func mend(data []byte) (mended []byte, differs bool) {
	if fixed := strictJSON(data); fixed != nil {
		if _, ok := rawjson.Parse(fixed); ok {
			return bytes.ReplaceAll(fixed, []byte{'\n'}, []byte{' '}), true
		}
		data, differs = fixed, true
	}
	line, _, several := bytes.Cut(data, []byte{'\n'})
	if _, ok := rawjson.Parse(line); several && ok {
		return data, true
	}
	return data, false
}

// strictJSON returns data with NaN and Infinity outside of strings made null, and
// without commas behind the last of a list; nil where there is none.
func strictJSON(data []byte) []byte {
	var b []byte
	from, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && c == ',':
			if rest := bytes.TrimLeft(data[i+1:], " \t\r\n"); len(rest) > 0 && (rest[0] == '}' || rest[0] == ']') {
				b = append(b, data[from:i]...)
				from = i + 1
			}
		case !quoted && (c == 'N' || c == 'I'):
			word := "NaN"
			if c == 'I' {
				word = "Infinity"
			}
			if !bytes.HasPrefix(data[i:], []byte(word)) {
				continue
			}
			to := i
			if to > from && data[to-1] == '-' {
				to--
			}
			b = append(append(b, data[from:to]...), "null"...)
			i += len(word) - 1
			from = i + 1
		}
	}
	if b == nil {
		return nil
	}
	return append(b, data[from:]...)
}
