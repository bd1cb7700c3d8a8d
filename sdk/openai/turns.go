package openai

import "github.com/parley-search/parley/sdk/rawjson"

// InTurns returns messages as [SystemFirst] does, with those of the user that follow
// each other as one, and so those of the assistant that make no calls: chat templates
// refuse two in a row.
func InTurns(messages rawjson.Value) rawjson.Value {
	one, turns := systemFirst(messages)
	if !one {
		messages, turns = joinSystem(messages)
	}
	if turns {
		return messages
	}
	return joinTurns(messages)
}

func joinTurns(messages rawjson.Value) rawjson.Value {
	var last rawjson.Value
	b := rawjson.Value{'['}
	for it := messages.Items(); it.Next(); {
		if joined := joinTurn(last, it.Value); joined != nil {
			last = joined
			continue
		}
		if last != nil {
			b = append(append(b, last...), ',')
		}
		last = it.Value
	}
	return append(append(b, last...), ']')
}

// joinTurn returns two messages as one, nil where they are not of one turn.
func joinTurn(a, b rawjson.Value) rawjson.Value {
	role := b.Get("role")
	if string(a.Get("role")) != string(role) || !role.Is("user") && !role.Is("assistant") ||
		!a.Get("tool_calls").IsNull() || !b.Get("tool_calls").IsNull() {
		return nil
	}
	content := joinContent(a.Get("content"), b.Get("content"))
	if content == nil {
		return nil
	}
	m := rawjson.EditOf(a)
	m.Set("content", content)
	return m.Value()
}

// joinContent returns two contents as one: texts with an empty line between, parts one
// behind the other.
func joinContent(a, b rawjson.Value) rawjson.Value {
	if a.Kind() == rawjson.String && b.Kind() == rawjson.String {
		return rawjson.Quote(a.String() + "\n\n" + b.String())
	}
	joined := rawjson.Value{'['}
	for _, v := range [...]rawjson.Value{a, b} {
		switch v.Kind() {
		case rawjson.String:
			joined = append(append(append(joined, `{"type":"text","text":`...), v...), "},"...)
		case rawjson.Array:
			for it := v.Items(); it.Next(); {
				joined = append(append(joined, it.Value...), ',')
			}
		default:
			return nil
		}
	}
	if len(joined) == 1 {
		return nil
	}
	joined[len(joined)-1] = ']'
	return joined
}
