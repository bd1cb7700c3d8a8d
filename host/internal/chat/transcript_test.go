package chat_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/chat"
)

// A transcript is a chat.FrameWriter that reads what it is given as a client
// does.
type transcript struct {
	t       *testing.T
	raw     bytes.Buffer
	done    bool
	chunks  []chunk
	failure *frameError
	outcome chat.Outcome
}

type chunk struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
	Choices []struct {
		Index        *int           `json:"index"`
		Delta        map[string]any `json:"delta"`
		FinishReason *string        `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	} `json:"usage"`
}

type frameError struct {
	EventID string          `json:"event_id"`
	Type    string          `json:"type"`
	Error   json.RawMessage `json:"error"`
}

func (tr *transcript) WriteFrames(b []byte, last bool) error {
	if len(b) == 0 {
		return nil
	}
	tr.raw.Write(b)
	if !bytes.HasSuffix(b, []byte("\n\n")) {
		tr.t.Errorf("a write ends within a frame: %q", b)
	}
	for frame := range bytes.SplitSeq(bytes.TrimSuffix(b, []byte("\n\n")), []byte("\n\n")) {
		data, ok := bytes.CutPrefix(frame, []byte("data: "))
		switch {
		case !ok || bytes.ContainsAny(data, "\r\n"):
			tr.t.Errorf("frame %q is not one line of data", frame)
		case tr.done:
			tr.t.Errorf("frame %q after [DONE]", frame)
		case string(data) == "[DONE]":
			tr.done = true
		case bytes.HasPrefix(data, []byte(`{"event_id"`)):
			tr.failure = new(frameError)
			if err := json.Unmarshal(data, tr.failure); err != nil {
				tr.t.Errorf("frame %q: %v", frame, err)
			}
		default:
			var c chunk
			if err := json.Unmarshal(data, &c); err != nil {
				tr.t.Errorf("frame %q: %v", frame, err)
			}
			if tr.failure != nil {
				tr.t.Errorf("frame %q after an error", frame)
			}
			if bytes.Contains(data, []byte(`"error"`)) || c.Choices == nil {
				tr.t.Errorf("chunk %s has an error or no choices", data)
			}
			tr.chunks = append(tr.chunks, c)
		}
	}
	if tr.done != last {
		tr.t.Errorf("[DONE] written: %v, said that frames are the last ones: %v", tr.done, last)
	}
	return nil
}

// check holds the whole against what clients break on.
func (tr *transcript) check() {
	tr.t.Helper()
	if !tr.done {
		tr.t.Error("no [DONE]")
	}
	finishes := 0
	for i, c := range tr.chunks {
		if c.ID != tr.chunks[0].ID || c.Created != tr.chunks[0].Created || c.Object != "chat.completion.chunk" || !strings.HasPrefix(c.ID, "chatcmpl-") {
			tr.t.Errorf("chunk %d is of another answer: %+v", i, c)
		}
		for _, choice := range c.Choices {
			if choice.Index == nil || *choice.Index != 0 {
				tr.t.Errorf("chunk %d has no choice 0: %+v", i, c)
			}
			if _, ok := choice.Delta["role"]; ok != (i == 0) {
				tr.t.Errorf("chunk %d: a role is %v; it belongs into the first delta alone", i, ok)
			}
			if choice.FinishReason != nil {
				finishes++
			}
		}
	}
	if want := 1; tr.failure == nil && finishes != want {
		tr.t.Errorf("%d finish reasons, want %d", finishes, want)
	}
	if tr.failure != nil && finishes != 0 {
		tr.t.Error("a failed answer has a finish reason")
	}
	if tr.outcome.Chunks != len(tr.chunks) {
		tr.t.Errorf("the outcome counts %d chunks of %d", tr.outcome.Chunks, len(tr.chunks))
	}
}

// field joins a text field of all deltas.
func (tr *transcript) field(name string) string {
	var s strings.Builder
	for _, c := range tr.chunks {
		for _, choice := range c.Choices {
			text, _ := choice.Delta[name].(string)
			s.WriteString(text)
		}
	}
	return s.String()
}

func (tr *transcript) finish() string {
	for _, c := range tr.chunks {
		for _, choice := range c.Choices {
			if choice.FinishReason != nil {
				return *choice.FinishReason
			}
		}
	}
	return ""
}

// A toolCall is what an accumulator makes of the chunks of one index.
type toolCall struct{ ID, Name, Arguments string }

// calls accumulates tool calls by index, as SDKs do, and checks that a call
// opens with id, type and name, and once.
func (tr *transcript) calls() []toolCall {
	tr.t.Helper()
	var calls []toolCall
	for _, c := range tr.chunks {
		for _, choice := range c.Choices {
			deltas, _ := choice.Delta["tool_calls"].([]any)
			for _, d := range deltas {
				d := d.(map[string]any)
				index := int(d["index"].(float64))
				function := d["function"].(map[string]any)
				if index == len(calls) {
					if d["type"] != "function" {
						tr.t.Errorf("call %d opens with type %v", index, d["type"])
					}
					calls = append(calls, toolCall{ID: d["id"].(string), Name: function["name"].(string)})
				} else if d["id"] != nil || function["name"] != nil {
					tr.t.Errorf("call %d is opened again: %v", index, d)
				}
				calls[index].Arguments += function["arguments"].(string)
			}
		}
	}
	return calls
}

// failureCode returns the code of the error frame, empty without one.
func (tr *transcript) failureCode() string {
	if tr.failure == nil {
		return ""
	}
	var e struct {
		Type, Code, Message string
		Param               *string
	}
	if err := json.Unmarshal(tr.failure.Error, &e); err != nil || e.Message == "" || e.Type == "" ||
		tr.failure.EventID == "" || tr.failure.Type != "error" || !bytes.Contains(tr.failure.Error, []byte(`"param":null`)) {
		tr.t.Errorf("error frame %s: %v", tr.raw.Bytes(), err)
	}
	return e.Code
}
