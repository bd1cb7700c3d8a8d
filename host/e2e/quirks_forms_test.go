package e2e

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
)

// ollama is the answer as lines of Ollama's form.
func (s *sayer) ollama() string {
	var b strings.Builder
	line := func(done string, members ...string) {
		members = append(members, `"role":"assistant"`)
		all := []string{`"model":"m"`, `"created_at":"t"`, `"message":` + s.object(members...), `"done":false`}
		if done != "" {
			all[3] = `"done":true`
			all = append(all, `"done_reason":"`+done+`"`, `"prompt_eval_count":5`, `"eval_count":7`)
		}
		b.WriteString(s.object(all...) + s.one("\n", "\n", "\r\n", "\n\n"))
	}
	switch {
	case s.tags():
		for _, piece := range s.cut("<think>" + s.thought + "</think>" + s.text) {
			line("", `"content":`+s.quote(piece))
		}
	default:
		for _, piece := range s.cut(s.thought) {
			line("", `"content":""`, `"thinking":`+s.quote(piece))
		}
		for _, piece := range s.cut(s.text) {
			line("", `"content":`+s.quote(piece))
		}
	}
	var calls []string
	for i, c := range s.calls {
		members := []string{`"function":` + s.object(`"name":"`+c.name+`"`, `"arguments":`+c.arguments)}
		if s.IntN(2) == 0 {
			members = append(members, fmt.Sprintf(`"id":"call_%d"`, i))
		}
		calls = append(calls, s.object(members...))
	}
	if len(calls) > 0 && s.IntN(2) == 0 {
		for _, c := range calls {
			line("", `"content":""`, `"tool_calls":[`+c+`]`)
		}
	} else if len(calls) > 0 {
		line("", `"content":""`, `"tool_calls":[`+strings.Join(calls, ",")+`]`)
	}
	done := "stop"
	if s.finish == "length" {
		done = "length"
	}
	line(done, `"content":""`)
	return b.String()
}

// anthropic is the answer as events of Anthropic's form.
func (s *sayer) anthropic() string {
	var events []string
	n := 0
	block := func(begin string, deltas ...string) {
		at := fmt.Sprintf(`"index":%d`, n)
		events = append(events, s.object(`"type":"content_block_start"`, at, `"content_block":`+begin))
		for _, d := range deltas {
			events = append(events, s.object(`"type":"content_block_delta"`, at, `"delta":`+d))
		}
		events = append(events, s.object(`"type":"content_block_stop"`, at))
		n++
	}
	deltas := func(typ, member, text string) (all []string) {
		for _, piece := range s.cut(text) {
			all = append(all, s.object(`"type":"`+typ+`"`, `"`+member+`":`+s.quote(piece)))
		}
		return all
	}
	events = append(events, s.object(`"type":"message_start"`, `"message":`+s.object(`"id":"msg_1"`, `"type":"message"`, `"role":"assistant"`, `"model":"m"`, `"content":[]`, `"stop_reason":null`, `"usage":{"input_tokens":5,"output_tokens":1}`)))
	if s.thought != "" {
		block(s.object(`"type":"thinking"`, `"thinking":""`), append(deltas("thinking_delta", "thinking", s.thought), s.object(`"type":"signature_delta"`, `"signature":"U0lH"`))...)
	}
	if s.text != "" {
		block(s.object(`"type":"text"`, `"text":""`), deltas("text_delta", "text", s.text)...)
	}
	for i, c := range s.calls {
		block(s.object(`"type":"tool_use"`, fmt.Sprintf(`"id":"toolu_%d"`, i), `"name":"`+c.name+`"`, `"input":{}`), deltas("input_json_delta", "partial_json", c.arguments)...)
	}
	reason := map[string]string{"stop": s.one("end_turn", "stop_sequence"), "length": "max_tokens", "tool_calls": "tool_use"}[s.finish]
	events = append(events, s.object(`"type":"message_delta"`, `"delta":`+s.object(`"stop_reason":"`+reason+`"`, `"stop_sequence":null`), `"usage":{"output_tokens":7}`), s.object(`"type":"message_stop"`))
	return s.events(events)
}

// gemini is the answer as chunks of Gemini's form, the thoughts signed.
func (s *sayer) gemini() string {
	var events []string
	say := func(reason string, parts ...string) {
		candidate := []string{`"content":` + s.object(`"role":"model"`, `"parts":[`+strings.Join(parts, ",")+`]`)}
		if s.IntN(2) == 0 {
			candidate = append(candidate, `"index":0`)
		}
		if reason != "" {
			candidate = append(candidate, `"finishReason":"`+reason+`"`)
		}
		chunk := []string{`"candidates":[` + s.object(candidate...) + `]`, `"modelVersion":"m"`, `"responseId":"r"`}
		if reason != "" || s.IntN(2) == 0 {
			chunk = append(chunk, `"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":7,"totalTokenCount":12}`)
		}
		events = append(events, s.object(chunk...))
	}
	for _, piece := range s.cut(s.thought) {
		say("", s.object(`"text":`+s.quote(piece), `"thought":true`))
	}
	for _, piece := range s.cut(s.text) {
		say("", s.object(`"text":`+s.quote(piece)))
	}
	var calls []string
	for i, c := range s.calls {
		call := []string{`"name":"` + c.name + `"`, `"args":` + c.arguments}
		if s.IntN(2) == 0 {
			call = append(call, fmt.Sprintf(`"id":"call_%d"`, i))
		}
		part := []string{`"functionCall":` + s.object(call...)}
		if i == 0 {
			part = append(part, `"thoughtSignature":"U0lH"`)
		}
		calls = append(calls, s.object(part...))
	}
	if len(calls) > 0 && s.IntN(2) == 0 {
		for _, c := range calls {
			say("", c)
		}
	} else if len(calls) > 0 {
		say("", calls...)
	}
	reason := "STOP"
	if s.finish == "length" {
		reason = "MAX_TOKENS"
	}
	say(reason, s.object(`"text":""`))
	return s.frame(events)
}

// cohere is the answer as events of Cohere's form; what is thought before calls is a plan.
func (s *sayer) cohere() string {
	events := []string{s.object(`"type":"message-start"`, `"id":"r"`, `"delta":{"message":{"role":"assistant","content":[]}}`)}
	say := func(typ, message string) {
		events = append(events, s.object(`"type":"`+typ+`"`, `"index":0`, `"delta":`+s.object(`"message":`+message)))
	}
	content := func(kind, text string) {
		if text == "" {
			return
		}
		say("content-start", `{"content":{"type":"`+kind+`","`+kind+`":""}}`)
		for _, piece := range s.cut(text) {
			say("content-delta", `{"content":`+s.object(`"`+kind+`":`+s.quote(piece))+`}`)
		}
		events = append(events, s.object(`"type":"content-end"`, `"index":0`))
	}
	if len(s.calls) > 0 && s.text == "" {
		for _, piece := range s.cut(s.thought) {
			say("tool-plan-delta", `{"tool_plan":`+s.quote(piece)+`}`)
		}
	} else {
		content("thinking", s.thought)
	}
	content("text", s.text)
	for i, c := range s.calls {
		say("tool-call-start", `{"tool_calls":`+s.object(fmt.Sprintf(`"id":"call_%d"`, i), `"type":"function"`, `"function":{"name":"`+c.name+`","arguments":""}`)+`}`)
		for _, piece := range s.cut(c.arguments) {
			say("tool-call-delta", `{"tool_calls":{"function":{"arguments":`+s.quote(piece)+`}}}`)
		}
		events = append(events, s.object(`"type":"tool-call-end"`, `"index":0`))
	}
	reason := map[string]string{"stop": s.one("COMPLETE", "STOP_SEQUENCE"), "length": "MAX_TOKENS", "tool_calls": "TOOL_CALL"}[s.finish]
	events = append(events, s.object(`"type":"message-end"`, `"delta":`+s.object(`"finish_reason":"`+reason+`"`, `"usage":{"tokens":{"input_tokens":5,"output_tokens":7}}`)))
	return s.events(events)
}

// bedrock is the answer as messages of Converse's form.
func (s *sayer) bedrock() string {
	var b []byte
	say := func(typ string, members ...string) {
		b = appendAWS(b, s.object(append(members, `"p":"abcd"`)...), ":event-type", typ, ":content-type", "application/json", ":message-type", "event")
	}
	at, n := "", 0
	block := func(begin string) {
		at = fmt.Sprintf(`"contentBlockIndex":%d`, n)
		n++
		if begin != "" {
			say("contentBlockStart", at, `"start":`+begin)
		}
	}
	say("messageStart", `"role":"assistant"`)
	if s.thought != "" {
		block("")
		for _, piece := range s.cut(s.thought) {
			say("contentBlockDelta", at, `"delta":{"reasoningContent":{"text":`+s.quote(piece)+`}}`)
		}
		say("contentBlockDelta", at, `"delta":{"reasoningContent":{"signature":"U0lH"}}`)
		say("contentBlockStop", at)
	}
	if s.text != "" {
		block("")
		for _, piece := range s.cut(s.text) {
			say("contentBlockDelta", at, `"delta":{"text":`+s.quote(piece)+`}`)
		}
		say("contentBlockStop", at)
	}
	for i, c := range s.calls {
		block(fmt.Sprintf(`{"toolUse":{"toolUseId":"tooluse_%d","name":%q}}`, i, c.name))
		for _, piece := range s.cut(c.arguments) {
			say("contentBlockDelta", at, `"delta":{"toolUse":{"input":`+s.quote(piece)+`}}`)
		}
		say("contentBlockStop", at)
	}
	say("messageStop", `"stopReason":"`+map[string]string{"stop": s.one("end_turn", "stop_sequence"), "length": "max_tokens", "tool_calls": "tool_use"}[s.finish]+`"`)
	say("metadata", `"usage":{"inputTokens":5,"outputTokens":7,"totalTokens":12}`)
	return string(b)
}

// appendAWS appends a message of AWS's event stream, with headers of text.
func appendAWS(b []byte, payload string, headers ...string) []byte {
	var h []byte
	for i, text := range headers {
		if i%2 == 0 {
			h = append(append(h, byte(len(text))), text...)
		} else {
			h = append(binary.BigEndian.AppendUint16(append(h, 7), uint16(len(text))), text...)
		}
	}
	from := len(b)
	b = binary.BigEndian.AppendUint32(b, uint32(16+len(h)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(h)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
	b = append(append(b, h...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
}
