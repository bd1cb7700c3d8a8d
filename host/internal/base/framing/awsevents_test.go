package framing

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// awsMessage is a message with string headers, given as names and values.
func awsMessage(payload string, headers ...string) string {
	var h []byte
	for i := 0; i < len(headers); i += 2 {
		h = append(append(h, byte(len(headers[i]))), headers[i]...)
		h = binary.BigEndian.AppendUint16(append(h, 7), uint16(len(headers[i+1])))
		h = append(h, headers[i+1]...)
	}
	return awsRaw(h, payload)
}

func awsRaw(headers []byte, payload string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(awsPrelude+len(headers)+len(payload)+awsSum))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), payload...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

var awsStream = awsMessage(`{"role":"assistant"}`, ":event-type", "messageStart", ":content-type", "application/json", ":message-type", "event") +
	awsMessage("<\xff\x00", ":event-type", "contentBlockDelta", ":message-type", "event") +
	awsMessage("own", ":event-type", ":head", ":message-type", "event") +
	awsRaw([]byte("\x01a\x00\x01b\x01\x01c\x02x\x01d\x03xx\x01e\x04xxxx\x01f\x05xxxxxxxx\x01g\x06\x00\x01x\x01h\x08xxxxxxxx\x01i\x09xxxxxxxxxxxxxxxx"), "") +
	awsMessage(`{"message":"slow"}`, ":message-type", "exception", ":exception-type", "throttlingException") +
	awsMessage("", ":message-type", "error", ":error-code", "InternalError", ":error-message", `a "b"`)

var awsWant = []event{
	{"messageStart", `{"role":"assistant"}`},
	{"contentBlockDelta", "<\xff\x00"},
	{"", "own"},
	{"", ""},
	{":exception:throttlingException", `{"message":"slow"}`},
	{":error:InternalError", `{"message":"a \"b\""}`},
}

// TestAWSEvents cuts a stream at every byte, and tells it by its content type.
func TestAWSEvents(t *testing.T) {
	for _, o := range []Options{{Framing: abi.FramingAWSEventStream}, {ContentType: "application/vnd.amazon.eventstream"}} {
		for n := 1; n <= len(awsStream); n++ {
			if got, err := cut(o, bytewise(awsStream, n)...); err != nil || !slices.Equal(got, awsWant) {
				t.Fatalf("%+v by %d bytes: %q, %v; want %q", o, n, got, err, awsWant)
			}
		}
	}
}

// TestAWSEventsDamaged turns each bit of a stream and ends it at each byte: what
// comes is the events before, and an error but at the end of a message.
func TestAWSEventsDamaged(t *testing.T) {
	o := Options{Framing: abi.FramingAWSEventStream, MaxEvent: 1 << 20}
	ends := map[int]bool{0: true}
	for at := 0; at < len(awsStream); {
		at += int(binary.BigEndian.Uint32([]byte(awsStream[at:])))
		ends[at] = true
	}
	check := func(how string, at int, in string, whole bool) {
		got, err := cut(o, in)
		if whole != (err == nil) || len(got) > len(awsWant) || !slices.Equal(got, awsWant[:len(got)]) {
			t.Fatalf("%s %d: %q, %v", how, at, got, err)
		}
		if e, ok := errors.AsType[*outbound.Error](err); !whole && (!ok || e.Kind != outbound.Broken && e.Kind != outbound.TooLong) {
			t.Fatalf("%s %d: error %v", how, at, err)
		}
	}
	for at := range awsStream {
		check("cut at", at, awsStream[:at], ends[at])
		for bit := range 8 {
			b := []byte(awsStream)
			b[at] ^= 1 << bit
			check("a bit turned in byte", at, string(b), false)
		}
	}
	for name, in := range map[string]string{
		"headers beyond the message":  awsLengths(40, 100),
		"no room for the sum":         awsLengths(12, 0),
		"too many headers":            awsLengths(1<<20, maxAWSHeaders+1),
		"too long":                    awsLengths(1<<20+1, 0),
		"a header without a name":     awsRaw([]byte("\x00\x00"), ""),
		"a header cut in its name":    awsRaw([]byte("\x05ab"), ""),
		"a header without a type":     awsRaw([]byte("\x01a"), ""),
		"a header of an unknown type": awsRaw([]byte("\x01a\x0a"), ""),
		"a string without a length":   awsRaw([]byte("\x01a\x07\x00"), ""),
		"a string cut off":            awsRaw([]byte("\x01a\x07\x00\x09x"), ""),
		"a number cut off":            awsRaw([]byte("\x01a\x05xxx"), ""),
	} {
		if got, err := cut(o, in); err == nil || len(got) > 0 {
			t.Errorf("%s: %q, %v; want an error alone", name, got, err)
		}
	}
}

// awsLengths is the head of a message.
func awsLengths(whole, headers uint32) string {
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, whole), headers)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// TestAWSVectors reads AWS's own vectors, where they are at hand.
func TestAWSVectors(t *testing.T) {
	dir := filepath.Join(corpus(t), "vectors", "aws-eventstream", "encoded")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Skip("no recordings of providers: CORPUS names their folder, ../shared/corpus unless it is set")
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		events, err := cut(Options{Framing: abi.FramingAWSEventStream}, string(b))
		if good := strings.Contains(file, "positive"); good != (err == nil) || good != (len(events) == 1) {
			t.Errorf("%s: %q, %v", file, events, err)
		}
	}
}

func FuzzAWSEvents(f *testing.F) {
	f.Add([]byte(awsStream), uint8(1), uint8(0))
	f.Add([]byte(awsStream[:100]), uint8(5), uint8(3))
	f.Add([]byte(awsLengths(40, 20)+strings.Repeat("x", 40)), uint8(7), uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, a, b uint8) {
		fuzzBinary(t, Options{Framing: abi.FramingAWSEventStream, MaxEvent: 1 << 10}, in, a, b)
	})
}

// fuzzBinary holds any chunks to the whole.
func fuzzBinary(t *testing.T, o Options, in []byte, a, b uint8) {
	want, wantErr := cut(o, string(in))
	i, j := min(int(a), len(in)), min(int(a)+int(b), len(in))
	for _, chunks := range [][]string{{string(in[:i]), string(in[i:j]), string(in[j:])}, bytewise(string(in), 1+int(b)%7)} {
		got, err := cut(o, chunks...)
		if !slices.Equal(got, want) || (err == nil) != (wantErr == nil) {
			t.Fatalf("in chunks %q: %q, %v; want %q, %v", chunks, got, err, want, wantErr)
		}
	}
}
