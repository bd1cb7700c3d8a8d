package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// badField is the [apierr.BadRequest] of the field at path.
func badField(path, format string, args ...any) error {
	return &apierr.Error{Code: apierr.BadRequest, Param: path, Message: fmt.Sprintf(format, args...)}
}

// checkStream has the type checked first, so that "false" is no false.
func checkStream(v json.RawMessage) error {
	switch string(bytes.TrimSpace(v)) {
	case "", "null", "true":
		return nil
	case "false":
		return apierr.Newf(chaterr.UnimplementedNonStreaming, "`stream` is false, but answers are only streamed: leave it out or set it to true.")
	}
	return jsonbody.WrongType(apierr.BadRequest, "stream", "true, or left out", v)
}

func checkN(v json.RawMessage) error {
	if v == nil || rawjson.IsNull(v) {
		return nil
	}
	n, err := strconv.ParseFloat(string(bytes.TrimSpace(v)), 64)
	if err != nil {
		return jsonbody.WrongType(apierr.BadRequest, "n", "the number 1, or left out", v)
	}
	if n != 1 {
		return apierr.Newf(chaterr.UnimplementedMultiChoice, "`n` asks for more or less than one choice, but an answer has exactly one: leave it out or set it to 1.")
	}
	return nil
}

// A part of a message's content that is more than text: which message's, which of its
// parts, its type, and its bytes.
type part struct {
	message, index int
	typ            string
	size           int
}

// defaultMemoryMiB is what a plugin has whose manifest does not say.
const defaultMemoryMiB = 16

// media are the types of such parts.
var media = []string{"image_url", "input_audio", "file"}

// checkParts refuses the parts that m's provider is not given.
func (r *request) checkParts(m *abi.Manifest) error {
	left := cmp.Or(m.Limits.MemoryMiB, defaultMemoryMiB) << 20 / 16 // that a call of the plugin takes
	for _, p := range r.parts {
		if left -= p.size; left < 0 {
			at := fmt.Sprintf("%s.content[%d]", r.asked.messageAt(p.message), p.index)
			return &apierr.Error{Code: apierr.BadRequest, Param: at, Reason: "content_part_too_large", Message: fmt.Sprintf("`%s` has %d bytes, and all such parts of a request have at most %d for the source %s: send a smaller one, or where it is, if the provider fetches it.", at, p.size, cmp.Or(m.Limits.MemoryMiB, defaultMemoryMiB)<<20/16, m.Source)}
		}
		if !slices.Contains(m.Accepts, p.typ) {
			takes := "only text is taken"
			if len(m.Accepts) > 0 {
				takes = "text, " + strings.Join(m.Accepts, ", ") + " are taken"
			}
			at := fmt.Sprintf("%s.content[%d]", r.asked.messageAt(p.message), p.index)
			return &apierr.Error{Code: apierr.BadRequest, Param: at, Reason: "unsupported_content_part", Message: fmt.Sprintf("`%s.type` is %q, which the source %s is not given: %s.", at, p.typ, m.Source, takes)}
		}
	}
	return nil
}

// A messagePlace is what the client calls a message. It is put into words where
// something is wrong.
type messagePlace struct {
	asked *Request
	index int
}

func (at messagePlace) String() string { return at.asked.messageAt(at.index) }

// messageFields are what is read of a message.
var messageFields = []string{"role", "content", "tool_calls", "tool_call_id"}

func checkMessage(at messagePlace, v json.RawMessage) ([]part, error) {
	var m [4]json.RawMessage
	if !jsonbody.Pick(v, m[:], messageFields...) {
		return nil, jsonbody.WrongType(apierr.BadRequest, at.String(), "an object", v)
	}
	if err := jsonbody.CheckNames(at.String(), v, messageFields...); err != nil {
		return nil, err
	}
	role, ok := rawjson.String(m[0])
	if !ok {
		return nil, jsonbody.WrongType(apierr.BadRequest, at.String()+".role", "a string: system, user, assistant, developer or tool", m[0])
	}
	if !slices.Contains(roles, role) {
		return nil, badField(at.String()+".role", "`%s.role` is %q: it must be system, user, assistant, developer or tool.", at, jsonbody.Cut(role, 64))
	}
	if role == "tool" {
		if _, ok := rawjson.String(m[3]); !ok {
			return nil, jsonbody.WrongType(apierr.BadRequest, at.String()+".tool_call_id", "the id of the tool call that the message answers", m[3])
		}
	}
	content, calls := m[1], m[2]
	if calls != nil && !rawjson.IsNull(calls) {
		if calls[0] != '[' || role != "assistant" {
			return nil, badField(at.String()+".tool_calls", "`%s.tool_calls` must be an array, in a message of role assistant.", at)
		}
	}
	if content == nil || rawjson.IsNull(content) {
		// What an assistant said may have been a call or a refusal alone.
		if role == "assistant" {
			return nil, nil
		}
		return nil, badField(at.String()+".content", "`%s.content` is missing: it must be a string or an array of text parts.", at)
	}
	if content[0] == '"' {
		return nil, nil
	}
	return checkContent(at.String()+".content", role, content)
}

// checkContent checks content that is no string.
func checkContent(path, role string, v json.RawMessage) (found []part, err error) {
	parts, ok := jsonbody.ArrayOf(v)
	if !ok {
		return nil, jsonbody.WrongType(apierr.BadRequest, path, "a string or an array of text parts", v)
	}
	for i, v := range parts {
		at := fmt.Sprintf("%s[%d]", path, i)
		fields, ok := jsonbody.ObjectOf(v)
		if !ok {
			return nil, jsonbody.WrongType(apierr.BadRequest, at, `an object {"type": "text", "text": …}`, v)
		}
		typ, _ := rawjson.String(fields["type"])
		if role == "user" && slices.Contains(media, typ) {
			found = append(found, part{index: i, typ: typ, size: len(v)})
			continue
		}
		if typ != "text" && (typ != "refusal" || role != "assistant") {
			return nil, badField(at+".type", "`%s.type` is %q: only text parts are taken.", at, jsonbody.Cut(typ, 64))
		}
		if _, ok := rawjson.String(fields[typ]); !ok {
			return nil, jsonbody.WrongType(apierr.BadRequest, at+"."+typ, "a string", fields[typ])
		}
	}
	return found, nil
}
