package openai

import (
	"bytes"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// delta takes what a choice adds.
func (d *Decoder) delta(s *State, v rawjson.Value, p *piece, out *provider.Out) error {
	reasoned := false
	d.raw = append(d.raw[:0], '{')
	for m := v.Members(); m.Next(); {
		if m.Value.IsNull() {
			continue
		}
		switch string(m.Key) {
		case "role", "name":
		case "content":
			d.content(s, m.Value, p, out)
		case "reasoning", "reasoning_content":
			what := uint8(textReasoning)
			if len(m.Key) == len("reasoning") {
				what = textReasoningShort
			}
			if m.Value.Kind() != rawjson.String {
				d.extra(&m, p)
			} else if len(m.Value) == 2 && what == textReasoning && s.isFirstEmpty() {
				d.extra(&m, p) // it has to go back, too
			} else if reasoned { // some send both names, and the first may be empty next time
				p.more = true
				if len(m.Value) > 2 {
					s.called(what, out)
				}
			} else {
				reasoned = d.text(s, what, m.Value, p, out)
			}
		case "refusal":
			d.text(s, textRefusal, m.Value, p, out)
		case "tool_calls":
			p.called = true
			if err := d.toolCalls(s, m.Value, p, out); err != nil {
				return err
			}
		case "function_call":
			p.called = true
			if err := d.functionCall(s, m.Value, p, out); err != nil {
				return err
			}
		default:
			d.extra(&m, p)
		}
	}
	if len(d.raw) > 1 {
		out.Extra(append(d.raw, '}'))
	}
	return nil
}

// isFirstEmpty reports whether reasoning_content comes for the first time, with nothing
// in it.
func (s *State) isFirstEmpty() bool {
	first := !s.Empty && s.Names&(1<<textReasoning) == 0
	s.Empty = true
	return first
}

// extra gathers a field that no record knows.
func (d *Decoder) extra(m *rawjson.Members, p *piece) {
	p.more = true
	d.gather(m)
}

// content takes a delta's content: a string, or a list of parts.
func (d *Decoder) content(s *State, v rawjson.Value, p *piece, out *provider.Out) {
	d.text(s, textAnswer, v, p, out)
	for it := v.Items(); it.Next(); {
		d.part(s, textAnswer, it.Value, p, out)
	}
	if v.Kind() == rawjson.Object { // a part without a list around it
		d.part(s, textAnswer, v, p, out)
	}
}

// part takes one part of content, which may hold parts of its own.
func (d *Decoder) part(s *State, what uint8, v rawjson.Value, p *piece, out *provider.Out) {
	if thinking := v.Get("thinking"); !thinking.IsNull() {
		d.text(s, textThinking, thinking, p, out)
		for it := thinking.Items(); it.Next(); {
			d.part(s, textThinking, it.Value, p, out)
		}
		return
	}
	d.text(s, what, v.Get("text"), p, out)
	d.text(s, textRefusal, v.Get("refusal"), p, out)
	if !v.Get("image_url").IsNull() { // drawn by the model: others have it beside content
		p.more = true
		out.Extra(append(append([]byte(`{"images":[`), v...), "]}"...))
	}
}

// text writes a string as a record and reports whether it held anything.
func (d *Decoder) text(s *State, what uint8, v rawjson.Value, p *piece, out *provider.Out) bool {
	if v.Kind() != rawjson.String || len(v) == 2 {
		return false
	}
	text := v[1 : len(v)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		text = rawjson.AppendUnescaped(d.scratch[:0], text)
		d.scratch = text
	}
	if what == textAnswer && !s.Tags.isPlain(text) && s.Tags.Split(text, s.sayTagged(out)) {
		p.more = true
		return true
	}
	p.add(what, 0, v)
	emitText(what, 0, text, out)
	if what != textAnswer {
		s.called(what, out)
	}
	return true
}
