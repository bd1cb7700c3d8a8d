package apierr

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// Fields gives fields of a body the code that their errors carry. A key is a
// path without array positions ("prompts.system"), where "*" stands for any
// name ("remotes.*.url"); a field without an entry has its parent's code, or
// [BadRequest]. An unknown field has a code only where such a "*" stands for it.
type Fields map[string]Code

// DecodeStrict decodes a JSON body into what into points at. Every error is an
// [Error] that a client can act on:
//
//   - [MissingPayload] for an empty body;
//   - [MalformedPayload] with line and column for what is not JSON in UTF-8;
//   - [BadRequest], or a code of codes, with the path of a field that is unknown (naming the nearest
//     known one), that comes twice, or that has the wrong type.
//
// Names are matched exactly, with case. null is taken by every field, as if it
// were absent, but see [Optional]. Fields of type [json.RawMessage], any, and
// those with a method UnmarshalJSON, are not looked into. codes, which may be
// nil, gives some fields a code of their own.
func DecodeStrict(body []byte, into any, codes Fields) error {
	return decode(body, into, codes, false)
}

// DecodeKnown is [DecodeStrict] for a body whose unknown members are ignored.
func DecodeKnown(body []byte, into any, codes Fields) error {
	return decode(body, into, codes, true)
}

func decode(body []byte, into any, codes Fields, foreign bool) error {
	if err := CheckJSON(body); err != nil {
		return err
	}
	w := walker{dec: json.NewDecoder(bytes.NewReader(body)), codes: codes, foreign: foreign}
	w.dec.UseNumber()
	if err := w.value(reflect.TypeOf(into).Elem(), ""); err != nil {
		return err
	}
	body, err := w.withoutIgnored(body)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if err != nil {
		// The walk has seen to types and names: what is left is what a
		// method UnmarshalJSON refused.
		return &Error{Code: BadRequest, Message: "The body was refused: " + err.Error() + ".", Err: err}
	}
	return nil
}

// CheckJSON returns [MissingPayload] or [MalformedPayload] for a body that is
// not one JSON value in UTF-8.
func CheckJSON(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return Newf(MissingPayload, "The body is empty: send a JSON value.")
	}
	if rawjson.Valid(body) && utf8.Valid(body) {
		return nil
	}
	return malformed(body)
}

// CheckOnce is [CheckJSON], and returns [BadRequest] where an object in body has a member
// twice: of those, whoever reads body after this host may take the other one.
func CheckOnce(body []byte) error {
	if err := CheckJSON(body); err != nil {
		return err
	}
	if name := rawjson.Repeated(body); name != "" {
		return Newf(BadRequest, "%s comes twice: send it once.", named(name))
	}
	return nil
}

// malformed says where body stops being JSON.
func malformed(body []byte) error {
	if bad := firstInvalidUTF8(body); bad >= 0 {
		line, column := position(body, bad)
		return Newf(MalformedPayload, "The body is not UTF-8 at line %d, column %d: send JSON in UTF-8.", line, column)
	}
	var into json.RawMessage
	err := json.Unmarshal(body, &into)
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return &Error{Code: MalformedPayload, Message: "The body is not JSON.", Err: err}
	}
	// The offset is that of the byte after the wrong one, but at the end.
	at := int(syntax.Offset) - 1
	if strings.HasPrefix(syntax.Error(), "unexpected end") {
		at = len(body)
	}
	line, column := position(body, at)
	return Newf(MalformedPayload, "The body is not JSON at line %d, column %d: %s.", line, column, syntax)
}

func firstInvalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// position returns line and column, in characters from 1, of the byte at.
func position(body []byte, at int) (line, column int) {
	before := body[:max(0, min(at, len(body)))]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

// An Optional is a field that tells absent (not Set), null (Set, Value nil)
// and a value apart.
type Optional[T any] struct {
	Set   bool
	Value *T
}

// UnmarshalJSON implements [json.Unmarshaler]; it is not called for an absent
// field.
func (o *Optional[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	return json.Unmarshal(b, &o.Value)
}

func (Optional[T]) inner() reflect.Type { return reflect.TypeFor[T]() }
