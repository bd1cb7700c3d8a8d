package workspace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// The values of the setting clientMessages.
const (
	messagesAll      = "all"
	MessagesNoSystem = "noSystem"
)

// reservedEnforced are what no rule can say over a request. Tools may be enforced,
// see [checkEnforcedTools].
var reservedEnforced = []string{"messages", "model", "stream", "n", "functions"}

// The values of the setting tools.
const (
	toolsAuto = "auto"
	toolsNo   = "no"
)

// guardFields are the settings that bound what clients may ask for, how long a
// provider may take and what its model can do.
var guardFields = []struct {
	name  string
	merge func(*Workspace, json.RawMessage) error
}{
	{"enforcedParameters", mergeEnforced},
	{"maxCompletionTokens", mergeCount("maxCompletionTokens", math.MaxInt32, chaterr.InvalidChatMaxCompletionTokens, func(w *Workspace) *int { return &w.MaxCompletionTokens })},
	{"clientMessages", mergeClientMessages},
	{"clientTools", mergeClientTools},
	{"maxInputBytes", mergeCount("maxInputBytes", math.MaxInt32, chaterr.InvalidChatMaxInputBytes, func(w *Workspace) *int { return &w.MaxInputBytes })},
	{"maxMessages", mergeCount("maxMessages", math.MaxInt32, chaterr.InvalidChatMaxMessages, func(w *Workspace) *int { return &w.MaxMessages })},
	{"maxRounds", mergeCount("maxRounds", MostRounds, chaterr.InvalidChatMaxRounds, func(w *Workspace) *int { return &w.MaxRounds })},
	{"limits", mergeLimits},
	{"tools", mergeTools},
	{"fallback", mergeFallback},
	{"firstByteSeconds", mergeCount("firstByteSeconds", abi.MaxTimeoutSeconds, chaterr.InvalidChatFirstByteSeconds, func(w *Workspace) *int { return &w.FirstByteSeconds })},
}

// mergeGuards applies those of guardFields that are among fields to w.
func mergeGuards(w *Workspace, fields jsonbody.Object) error {
	for _, f := range guardFields {
		if v := fields[f.name]; v != nil {
			if err := f.merge(w, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// mergeCount applies a field that is a number from 1 to most; null: no bound.
func mergeCount(name string, most int64, code apierr.Code, at func(*Workspace) *int) func(*Workspace, json.RawMessage) error {
	return func(w *Workspace, v json.RawMessage) error {
		if rawjson.IsNull(v) {
			*at(w) = 0
			return nil
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(v)), 10, 64)
		if err != nil || n < 1 || n > most {
			return apierr.Newf(code, "`%s` must be an integer from 1 to %d, or null for no bound.", name, most)
		}
		*at(w) = int(n)
		return nil
	}
}

func mergeClientMessages(w *Workspace, v json.RawMessage) error {
	name, ok := rawjson.String(v)
	switch {
	case rawjson.IsNull(v):
		w.ClientMessages = ""
	case ok && (name == messagesAll || name == MessagesNoSystem):
		w.ClientMessages = name
	default:
		return apierr.Newf(chaterr.InvalidChatClientMessages, "`clientMessages` must be %q, %q or null, which means %q.", messagesAll, MessagesNoSystem, messagesAll)
	}
	return nil
}

func mergeClientTools(w *Workspace, v json.RawMessage) error {
	switch string(bytes.TrimSpace(v)) {
	case "true", "null":
		w.NoClientTools = false
	case "false":
		w.NoClientTools = true
	default:
		return jsonbody.WrongType(chaterr.InvalidChatClientTools, "clientTools", "true, false or null", v)
	}
	return nil
}

func mergeTools(w *Workspace, v json.RawMessage) error {
	name, ok := rawjson.String(v)
	if !rawjson.IsNull(v) && (!ok || name != toolsAuto && name != toolsNo) {
		return apierr.Newf(chaterr.InvalidChatTools, "`tools` must be %q, %q, for a model that has none, or null, which means %q.", toolsAuto, toolsNo, toolsAuto)
	}
	w.NoTools = name == toolsNo
	return nil
}

func mergeEnforced(w *Workspace, v json.RawMessage) error {
	if rawjson.IsNull(v) {
		w.Enforced = nil
		return nil
	}
	const name = "enforcedParameters"
	fields, ok := jsonbody.ObjectOf(v)
	if !ok {
		return jsonbody.WrongType(chaterr.InvalidChatEnforcedParameters, name, "an object or null", v)
	}
	if len(v) > maxParameters {
		return apierr.Newf(chaterr.InvalidChatEnforcedParameters, "`%s` is longer than %d bytes.", name, maxParameters)
	}
	for _, field := range jsonbody.SortedKeys(fields) {
		if slices.Contains(reservedEnforced, field) {
			return apierr.Newf(chaterr.InvalidChatEnforcedParameters, "`%s.%s` cannot be enforced: each request says it. Leave it out.", name, field)
		}
	}
	if err := checkEnforcedTools(fields["tools"]); err != nil {
		return err
	}
	w.Enforced = bytes.Clone(bytes.TrimSpace(v))
	return nil
}

// checkEnforcedTools takes tools that the provider runs itself: there is nobody to
// answer the calls of a function that no client brought.
func checkEnforcedTools(v json.RawMessage) error {
	if v == nil || rawjson.IsNull(v) {
		return nil
	}
	items, ok := jsonbody.ArrayOf(v)
	if !ok {
		return jsonbody.WrongType(chaterr.InvalidChatEnforcedParameters, "enforcedParameters.tools", "an array of tools, or null", v)
	}
	for i, item := range items {
		path := fmt.Sprintf("enforcedParameters.tools[%d].type", i)
		tool, _ := jsonbody.ObjectOf(item)
		typ, ok := rawjson.String(tool["type"])
		if !ok {
			return jsonbody.WrongType(chaterr.InvalidChatEnforcedParameters, path, `a string such as "web_search"`, tool["type"])
		}
		if OfClient(typ) {
			return apierr.Newf(chaterr.InvalidChatEnforcedParameters, "`%s` is %q, a tool whose calls a client answers: only tools that the provider runs can be enforced.", path, typ)
		}
	}
	return nil
}

// OfClient reports whether a client answers the calls of tools of type typ; a
// provider runs all others itself, and has them paid for.
func OfClient(typ string) bool { return typ == "function" || typ == "custom" }
