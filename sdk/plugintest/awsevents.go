package plugintest

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"

	"github.com/parley-search/parley/abi"
)

// isAWS reports whether a body begins as a message of AWS's event stream does,
// whose first eight bytes a sum follows.
func isAWS(b []byte) bool {
	return len(b) >= 12 && crc32.ChecksumIEEE(b[:8]) == binary.BigEndian.Uint32(b[8:])
}

// frameAWS cuts messages of AWS's event stream, as far as they are whole: for a
// plugin a response that breaks off in one ends before it.
func frameAWS(b []byte) (events []abi.Event) {
	for isAWS(b) {
		whole, headers := int(binary.BigEndian.Uint32(b)), int(binary.BigEndian.Uint32(b[4:]))
		if whole < 16+headers || len(b) < whole || crc32.ChecksumIEEE(b[:whole-4]) != binary.BigEndian.Uint32(b[whole-4:]) {
			return events
		}
		events = append(events, awsEvent(b[12:12+headers], b[12+headers:whole-4]))
		b = b[whole:]
	}
	return events
}

// awsEvent makes an event of a message whose headers are strings.
func awsEvent(headers, payload []byte) abi.Event {
	h := map[string]string{}
	for len(headers) > 3 {
		n := int(headers[0])
		if len(headers) < 4+n || headers[1+n] != 7 {
			break
		}
		size := int(binary.BigEndian.Uint16(headers[2+n:]))
		if len(headers) < 4+n+size {
			break
		}
		h[string(headers[1:1+n])] = string(headers[4+n : 4+n+size])
		headers = headers[4+n+size:]
	}
	switch h[":message-type"] {
	case "exception":
		return abi.Event{Type: ":exception:" + h[":exception-type"], Data: payload}
	case "error":
		data, _ := json.Marshal(map[string]string{"message": h[":error-message"]}) // of a text alone
		return abi.Event{Type: ":error:" + h[":error-code"], Data: data}
	}
	return abi.Event{Type: h[":event-type"], Data: payload}
}
