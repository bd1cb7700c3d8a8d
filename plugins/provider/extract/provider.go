package main

import (
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// searchFunction is the host's own function.
const searchFunction = "searchInIndex"

// maxSearches bounds the indexes that one question is put to.
const maxSearches = 8

// extract needs no network: Encode thinks up the whole reply, and Decode cuts
// it into records. The reply is
//
//	{"calls": [{"id", "arguments"}], "texts": [string], "usage": [prompt, completion]}
type extract struct{}

func (extract) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	if err := checkRequest(r.Chat); err != nil {
		return provider.HTTPRequest{}, err
	}
	c := readConversation(r.Chat)
	var texts []string
	switch {
	case c.question == "":
		texts = endAnswer(c, "There is no question in this conversation yet.")
	case c.searched:
		texts = answerParagraphs(c)
	case isGreeting(c.question):
		texts = endAnswer(c, "Hello. Ask me something, and I quote what the documents say about it.")
	case !c.maySearch || len(c.indexes) == 0:
		texts = endAnswer(c, "I have no index to search: this request offers none. Create an index, add documents to it, and see that the key and the workspace may search it.")
	default:
		return provider.HTTPRequest{Reply: searchReply(c)}, nil
	}
	return provider.HTTPRequest{Reply: answerReply(c, texts)}, nil
}

// checkRequest refuses what no quoting of passages can do.
func checkRequest(chat rawjson.Value) error {
	if format := chat.Path("response_format", "type"); !format.IsNull() && !format.Is("text") {
		return provider.Refuse("`response_format` is " + string(format) + ", but the source extract quotes passages and has no model that could write JSON: leave it out, or choose a source with a model")
	}
	choice := chat.Get("tool_choice")
	name := choice.Path("function", "name").String()
	if choice.Is("required") && offers(chat.Get("tools"), searchFunction) {
		return nil
	}
	if name != "" && name != searchFunction || choice.Is("required") {
		return provider.Refuse("`tool_choice` forces a call of a function, but the source extract calls none but its search: leave it out, or choose a source with a model")
	}
	return nil
}

// offers reports whether the function called name is among tools.
func offers(tools rawjson.Value, name string) bool {
	for it := tools.Items(); it.Next(); {
		if it.Value.Path("function", "name").Is(name) {
			return true
		}
	}
	return false
}

// searchReply returns the reply that asks for the searches.
func searchReply(c conversation) []byte {
	q := rawjson.Quote(writeQuery(c.question))
	b := []byte(`{"calls":[`)
	for i, uid := range c.indexes[:min(len(c.indexes), maxSearches)] {
		if i > 0 {
			b = append(b, ',')
		}
		arguments := append([]byte(`{"indexUid":`), rawjson.Quote(uid)...)
		arguments = append(append(arguments, `,"q":`...), q...)
		arguments = append(arguments, `,"filter":""}`...)
		// The number of messages makes the id one that no earlier turn has.
		id := "call_" + strconv.Itoa(c.messages) + "_" + strconv.Itoa(i)
		b = rawjson.AppendString(append(b, `{"id":`...), id)
		b = append(rawjson.AppendString(append(b, `,"arguments":`...), arguments), '}')
	}
	return appendUsage(append(b, ']'), c.words, len(q)/6)
}

// answerReply returns the reply that is an answer.
func answerReply(c conversation, texts []string) []byte {
	b := []byte(`{"texts":[`)
	words := 0
	for i, text := range texts {
		if i > 0 {
			text = "\n\n" + text
			b = append(b, ',')
		}
		for range strings.FieldsSeq(text) {
			words++
		}
		b = rawjson.AppendString(b, text)
	}
	return appendUsage(append(b, ']'), c.words, words)
}

// appendUsage ends a reply. There is no tokenizer here: words count as tokens.
func appendUsage(b []byte, prompt, completion int) []byte {
	b = strconv.AppendInt(append(b, `,"usage":[`...), int64(prompt), 10)
	b = strconv.AppendInt(append(b, ','), int64(completion), 10)
	return append(b, "]}"...)
}

func (extract) Decode(_ *struct{}, e provider.Event, out *provider.Out) error {
	v, ok := rawjson.Parse(e.Data)
	if e.End || !ok {
		return nil
	}
	out.Response("", "extract")
	calls := 0
	for it := v.Get("calls").Items(); it.Next(); calls++ {
		out.ToolStart(calls, it.Value.Get("id").String(), searchFunction)
		out.ToolArguments(calls, []byte(it.Value.Get("arguments").String()))
	}
	for it := v.Get("texts").Items(); it.Next(); {
		out.Text([]byte(it.Value.String()))
	}
	if calls > 0 {
		out.Finish("tool_calls")
	} else {
		out.Finish("stop")
	}
	var usage [2]uint64
	it := v.Get("usage").Items()
	for i := 0; it.Next() && i < len(usage); i++ {
		n, _ := it.Value.Int()
		usage[i] = uint64(n)
	}
	out.Usage(provider.Usage{Prompt: usage[0], Completion: usage[1], Total: usage[0] + usage[1]})
	return nil
}

// Error is never asked for, since nothing is sent.
func (extract) Error(r *provider.Response) provider.ProviderError { return openai.Error(r) }
