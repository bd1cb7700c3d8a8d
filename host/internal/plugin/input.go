package plugin

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// InputJSON is the JSON of what goes in, as short as it can be: a guest would
// only have to undo the escapes.
func InputJSON(in any) ([]byte, error) {
	if r, ok := in.(*abi.EncodeRequest); ok && len(r.Chat) > 0 {
		return encodeInput(r)
	}
	return shortJSON(in)
}

func shortJSON(in any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(in); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// encodeInput is shortJSON for what comes before the first word of each answer.
// Nearly all of it is the chat, which is as short as it can be: package json
// would look at each byte of it again.
func encodeInput(in *abi.EncodeRequest) ([]byte, error) {
	settings, err := shortJSON(in.Settings)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(settings)+len(in.Chat)+64)
	b = append(append(b, `{"settings":`...), settings...)
	b = append(append(b, `,"chat":`...), in.Chat...)
	b = strconv.AppendInt(append(b, `,"round":`...), int64(in.Round), 10)
	b = strconv.AppendInt(append(b, `,"attempt":`...), int64(in.Attempt), 10)
	for i, entries := range [][]string{in.Carry, in.TextCarry} {
		if len(entries) == 0 {
			continue
		}
		carry, err := shortJSON(entries)
		if err != nil {
			return nil, err
		}
		b = append(append(b, [...]string{`,"carry":`, `,"textCarry":`}[i]...), carry...)
	}
	if len(in.Options) > 0 {
		options, err := shortJSON(in.Options)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"options":`...), options...)
	}
	if in.Step > 0 {
		b = strconv.AppendInt(append(b, `,"step":`...), int64(in.Step), 10)
	}
	if in.Cancelled {
		b = append(b, `,"cancelled":true`...)
	}
	for i, text := range []string{in.StepCarry, in.RequestID} {
		if text != "" {
			b = rawjson.AppendString(append(b, [...]string{`,"stepCarry":`, `,"requestId":`}[i]...), text)
		}
	}
	return append(b, '}'), nil
}
