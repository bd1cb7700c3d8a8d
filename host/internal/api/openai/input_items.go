package openai

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// includeSealed is what a request includes to be given encrypted content.
const includeSealed = "reasoning.encrypted_content"

// idPrefixes are those of the ids of items by type.
var idPrefixes = map[string]string{"message": "msg_", "function_call": "fc_", "function_call_output": "fco_", "custom_tool_call": "ctc_", "custom_tool_call_output": "ctco_", "reasoning": "rs_"}

// wholeItem is an item of a request with what requests may leave out.
func wholeItem(o jsonbody.Object) json.RawMessage {
	typ := o.Text("type")
	if typ == "" {
		typ = "message"
		o["type"] = quote(typ)
	}
	if rawjson.IsAbsent(o["id"]) {
		prefix := idPrefixes[typ]
		if prefix == "" {
			prefix = "item_"
		}
		o["id"] = quote(newID(prefix))
	}
	if typ != "reasoning" && rawjson.IsAbsent(o["status"]) {
		o["status"] = quote("completed")
	}
	text := o["content"]
	if _, isText := rawjson.String(text); isText && typ == "message" {
		part := jsonbody.Object{"type": quote("input_text"), "text": text}
		if o.Text("role") == "assistant" {
			part = jsonbody.Object{"type": quote("output_text"), "text": text, "annotations": json.RawMessage("[]"), "logprobs": json.RawMessage("[]")}
		}
		o["content"] = rawjson.Array([]json.RawMessage{part.Append(nil)})
	}
	return o.Append(nil)
}

const (
	mostItems = 100 // of a page
	someItems = 20
)

// ListItems is the page of items, oldest first, that query asks for by `limit`,
// `order`, `after` and `include`. The error is an [*Error].
func ListItems(items []json.RawMessage, query url.Values) (json.RawMessage, error) {
	limit := someItems
	if v := query.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > mostItems {
			return nil, refuse("unsupported_value", "limit", "`limit` must be an integer from 1 to "+strconv.Itoa(mostItems)+".")
		}
		limit = n
	}
	switch order := query.Get("order"); order {
	case "asc":
	case "", "desc":
		items = slices.Clone(items)
		slices.Reverse(items)
	default:
		return nil, refuse("unsupported_value", "order", "`order` must be asc or desc.")
	}
	if after := query.Get("after"); after != "" {
		at := slices.IndexFunc(items, func(v json.RawMessage) bool { return itemID(v) == after })
		if at < 0 {
			return nil, refuse("unsupported_value", "after", "`after` is `"+after+"`, which is not an item of this response.")
		}
		items = items[at+1:]
	}
	more := len(items) > limit
	items = slices.Clone(items[:min(limit, len(items))])
	list := jsonbody.Object{"object": quote("list"), "first_id": json.RawMessage("null"), "last_id": json.RawMessage("null"), "has_more": strconv.AppendBool(nil, more)}
	if n := len(items); n > 0 {
		list["first_id"], list["last_id"] = quote(itemID(items[0])), quote(itemID(items[n-1]))
	}
	sealed := slices.Contains(append(query["include"], query["include[]"]...), includeSealed)
	for i, v := range items {
		items[i] = shownItem(v, sealed)
	}
	list["data"] = rawjson.Array(items)
	return list.Append(nil), nil
}

func itemID(v json.RawMessage) string {
	o, _ := jsonbody.ObjectIn(v)
	return o.Text("id")
}

// shownItem is an item as it is kept without what is not to be shown of it.
func shownItem(v json.RawMessage, sealed bool) json.RawMessage {
	o, _ := jsonbody.ObjectIn(v)
	if o.Text("type") == "reasoning" && !sealed {
		o["encrypted_content"] = json.RawMessage("null")
	}
	return o.Append(nil)
}
