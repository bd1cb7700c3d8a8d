package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
)

// ParseText reads the body of a request for a text completion, OpenAI's older form, as
// a chat whose one message is the prompt. The error is an [*Error].
func ParseText(body []byte) (*ChatRequest, error) {
	fields, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	prompt, err := parsePrompt(fields["prompt"])
	if err != nil {
		return nil, err
	}
	// What changes the text or its form, and chats do not have. Of each, what is said
	// by the values beside it is no more than the default.
	for name, plain := range map[string][]string{
		"echo": {"false"}, "suffix": {`""`}, "best_of": {"1"}, "logprobs": nil, "n": {"1"}, "tools": {"[]"}, "tool_choice": nil, "response_format": nil,
	} {
		if v := fields[name]; !rawjson.IsAbsent(v) && !slices.Contains(plain, strings.TrimSpace(string(v))) {
			return nil, refuse("unsupported_parameter", name, "`"+name+"` is not supported here: leave it out, or use /v1/chat/completions.")
		}
		delete(fields, name)
	}
	delete(fields, "prompt")
	fields["messages"] = encode([]map[string]string{{"role": "user", "content": prompt}})
	return newChat(fields)
}

// parsePrompt reads a prompt, of which there may be one alone.
func parsePrompt(v json.RawMessage) (string, error) {
	if items, ok := rawjson.Items(v); ok && len(items) == 1 {
		v = items[0]
	}
	prompt, ok := rawjson.String(v)
	switch items, list := rawjson.Items(v); {
	case ok && prompt != "":
		return prompt, nil
	case rawjson.IsAbsent(v) || ok:
		return "", refuse("missing_required_parameter", "prompt", "`prompt` is missing: send a text.")
	case list && len(items) != 1:
		return "", refuse("unsupported_value", "prompt", fmt.Sprintf("`prompt` has %d items: send one text a request, and no tokens.", len(items)))
	}
	return "", wrongType("prompt", "a text", v)
}

// TextCompletion writes an answer's text in OpenAI's older form: as chunks, or whole.
type TextCompletion struct {
	chat.Discard
	to     chat.FrameWriter // nil: the answer is put together
	id     string
	head   chat.Head
	text   []byte // of the whole answer, or of the next chunk
	out    []byte
	pieces int
	finish *chat.Finish
	ended  bool // the last frame is written
}

var _ chat.Sink = (*TextCompletion)(nil)

// NewTextCompletion returns one that writes to w; nil: Body is the answer.
func NewTextCompletion(w chat.FrameWriter) *TextCompletion {
	return &TextCompletion{to: w, id: newID("cmpl-")[:len("cmpl-")+24]}
}

// Begin implements [chat.Sink].
func (t *TextCompletion) Begin(h chat.Head) { t.head = h }

// Model implements [chat.Sink].
func (t *TextCompletion) Model(name []byte) { t.head.Model = string(name) }

// Text implements [chat.Sink].
func (t *TextCompletion) Text(kind chat.Kind, text, extra []byte) {
	if kind != chat.Reasoning {
		t.addText(text)
	}
	t.Extra(extra)
}

// Extra implements [chat.Sink]: it says of images that there are some.
func (t *TextCompletion) Extra(object []byte) {
	for _, image := range chat.ImagesIn(object) {
		t.addText([]byte("\n\n" + image.Words()))
	}
}

func (t *TextCompletion) addText(text []byte) {
	t.pieces++
	t.text = append(t.text, text...)
	if t.to != nil {
		t.appendChunk("null")
	}
}

// appendChunk appends a chunk with the text so far.
func (t *TextCompletion) appendChunk(finish string) {
	t.out = append(t.appendBody(append(t.out, "data: "...), finish), "}\n\n"...)
	t.text = t.text[:0]
}

// appendBody appends an object without its end.
func (t *TextCompletion) appendBody(b []byte, finish string) []byte {
	b = rawjson.AppendString(append(b, `{"id":`...), t.id)
	b = strconv.AppendInt(append(b, `,"object":"text_completion","created":`...), t.head.Created, 10)
	b = rawjson.AppendString(append(b, `,"model":`...), t.head.Model)
	b = rawjson.AppendString(append(b, `,"choices":[{"index":0,"text":`...), t.text)
	return append(append(append(b, `,"logprobs":null,"finish_reason":`...), finish...), "}]"...)
}

// Finish implements [chat.Sink].
func (t *TextCompletion) Finish(f *chat.Finish) {
	t.finish, t.ended = f, true
	if t.to == nil {
		return
	}
	t.appendChunk(string(quote(f.Reason)))
	if f.Usage != nil {
		b := rawjson.AppendString(append(t.out, `data: {"id":`...), t.id)
		b = strconv.AppendInt(append(b, `,"object":"text_completion","created":`...), t.head.Created, 10)
		b = rawjson.AppendString(append(b, `,"model":`...), t.head.Model)
		t.out = append(appendUsage(append(b, `,"choices":[],"usage":`...), f), "}\n\n"...)
	}
	t.out = append(t.out, doneLine...)
}

// Fail implements [chat.Sink].
func (t *TextCompletion) Fail(e *apierr.Error) {
	t.out, t.ended = append(t.out, FromError(e).Frames()...), true
}

// Flush implements [chat.Sink]. The error is the writer's, or says that the answer is
// too long.
func (t *TextCompletion) Flush() error {
	if len(t.text) > maxWhole {
		return fmt.Errorf("the answer has more than %d bytes", maxWhole)
	}
	if t.to == nil {
		return nil
	}
	err := t.to.WriteFrames(t.out, t.ended)
	t.out = t.out[:0]
	return err
}

// Sent implements [chat.Sink]: the number of pieces.
func (t *TextCompletion) Sent() int { return t.pieces }

// Body is the whole answer.
func (t *TextCompletion) Body() []byte {
	b := t.appendBody(nil, string(quote(t.finish.Reason)))
	return append(appendUsage(append(b, `,"usage":`...), t.finish), '}')
}
