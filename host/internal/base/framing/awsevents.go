package framing

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// A message of AWS's event stream: its length and that of its headers, a sum of
// both; the headers; the payload; a sum of all before. Numbers are big-endian,
// lengths in bytes.
const (
	awsPrelude    = 12
	awsSum        = 4
	maxAWSHeaders = 128 << 10
)

// parseAWS reads the messages that are whole. A damaged one ends the body: what
// follows it may begin anywhere.
func (f *Framer) parseAWS(last bool) {
	for f.err == nil && f.awsMessage() {
	}
	if last && f.err == nil && f.r < f.w {
		f.err = brokenAWS("ended in the middle of a message")
	}
}

// awsMessage reads one message, and reports false where the buffer has no whole
// one.
func (f *Framer) awsMessage() bool {
	b := f.buf[f.r:f.w]
	if len(b) < awsPrelude {
		return false
	}
	whole, headers := int64(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint32(b[4:]))
	switch {
	case crc32.ChecksumIEEE(b[:8]) != binary.BigEndian.Uint32(b[8:]):
		f.err = brokenAWS("has a message whose lengths are damaged")
		return false
	case whole < awsPrelude+headers+awsSum || headers > maxAWSHeaders:
		f.err = brokenAWS("has a message whose lengths are wrong")
		return false
	case whole > int64(f.max):
		f.err = tooLongEvent(f.max)
		return false
	case int64(len(b)) < whole:
		return false
	}
	b = b[:whole]
	if crc32.ChecksumIEEE(b[:whole-awsSum]) != binary.BigEndian.Uint32(b[whole-awsSum:]) {
		f.err = brokenAWS("has a damaged message")
		return false
	}
	e, ok := f.awsEvent(b[awsPrelude:awsPrelude+headers], b[awsPrelude+headers:whole-awsSum:whole-awsSum])
	if !ok {
		f.err = brokenAWS("has a message whose headers are damaged")
		return false
	}
	f.r += int(whole)
	f.events = append(f.events, e)
	return true
}

// awsEvent makes an event of a message.
func (f *Framer) awsEvent(headers, payload []byte) (e abi.Event, ok bool) {
	var kind, event, exception, code, message []byte
	for len(headers) > 0 {
		name, value, rest, ok := awsHeader(headers)
		if !ok {
			return e, false
		}
		switch string(name) {
		case ":message-type":
			kind = value
		case ":event-type":
			event = value
		case ":exception-type":
			exception = value
		case ":error-code":
			code = value
		case ":error-message":
			message = value
		}
		headers = rest
	}
	switch string(kind) {
	case "exception":
		return abi.Event{Type: f.hostType(":exception:", exception), Data: payload}, true
	case "error":
		data, err := json.Marshal(map[string]string{"message": string(message)})
		return abi.Event{Type: f.hostType(":error:", code), Data: data}, err == nil
	}
	return abi.Event{Type: f.typeName(event), Data: f.pair(payload)}, true
}

// hostType is the name of a type of the host's own.
func (f *Framer) hostType(prefix string, b []byte) string {
	return prefix + string(appendMended(nil, b[:min(len(b), maxTypeLen)]))
}

// awsSizes are those of the values of each type but byte strings and strings,
// which say their own.
var awsSizes = [...]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}

// awsHeader reads the first header; the value of one that is no string is empty.
func awsHeader(b []byte) (name, value, rest []byte, ok bool) {
	n := int(b[0])
	if n == 0 || len(b) < 1+n+1 {
		return nil, nil, nil, false
	}
	name, typ, b := b[1:1+n], b[1+n], b[2+n:]
	switch {
	case typ == 6 || typ == 7:
		if len(b) < 2 {
			return nil, nil, nil, false
		}
		size := int(binary.BigEndian.Uint16(b))
		if b = b[2:]; len(b) < size {
			return nil, nil, nil, false
		}
		if typ == 7 {
			value = b[:size]
		}
		return name, value, b[size:], true
	case int(typ) < len(awsSizes) && len(b) >= awsSizes[typ]:
		return name, nil, b[awsSizes[typ]:], true
	}
	return nil, nil, nil, false
}

func brokenAWS(what string) error {
	return &outbound.Error{Kind: outbound.Broken, Message: "the provider's answer broke off: it " + what}
}
