package main

import (
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A conversation is what matters of a chat request.
type conversation struct {
	question  string   // of the last user message
	asked     string   // what was searched for: the question, with words of those before where the host added any
	indexes   []string // that may be searched, those named in the question first
	maySearch bool     // tool_choice allows it
	searched  bool     // results of this turn's searches are here
	results   []result
	messages  int
	answered  bool // there is an answer of before
	words     int  // of all messages
}

// A result is the host's answer to one search.
type result struct {
	index    string
	query    string // what was searched for, where it is more than the question
	failure  string
	coverage float64 // how much of the question the hits have, 0 to 1; below 0: the host does not say
	hits     []hit   // best first
}

// A hit is a document, or a passage of one.
type hit struct {
	id, text   string
	title, url string // of a passage; may be empty
	number     int    // that the host cites it by; 0: it gave none
}

// maxQuestion is the bytes of a question that are looked at.
const maxQuestion = 8 << 10

// readConversation reads a chat request. Tools other than the host's search
// are the client's: they and their answers are passed over.
func readConversation(chat rawjson.Value) conversation {
	c := conversation{maySearch: true}
	searches := map[string]string{} // id of a search → index
	for it := chat.Get("messages").Items(); it.Next(); {
		m := it.Value
		c.messages++
		text := openai.ContentText(m.Get("content"))
		for range strings.FieldsSeq(text) {
			c.words++
		}
		switch m.Get("role").String() {
		case "user":
			if text = strings.TrimSpace(text); text != "" {
				c.question = strings.Clone(cutText(withoutGreeting(askedText(text)), maxQuestion))
				c.asked = c.question
			}
			c.searched, c.results = false, nil
		case "assistant":
			c.answered = c.answered || strings.TrimSpace(text) != ""
			for call := m.Get("tool_calls").Items(); call.Next(); {
				if f := call.Value.Get("function"); f.Get("name").String() == searchFunction {
					searches[call.Value.Get("id").String()] = indexOf(f.Get("arguments"))
				}
			}
		case "tool":
			if index, ok := searches[m.Get("tool_call_id").String()]; ok {
				c.searched = true
				r := readResult(index, text)
				c.asked = cmpOr(r.query, c.asked)
				c.results = append(c.results, r)
			}
		}
	}
	switch choice := chat.Get("tool_choice"); choice.Kind() {
	case rawjson.String:
		c.maySearch = choice.String() != "none"
	case rawjson.Object:
		if name := choice.Path("function", "name").String(); name != "" {
			c.maySearch = name == searchFunction
		}
	}
	c.indexes = indexesOffered(chat.Get("tools"), c.question)
	return c
}

// indexOf returns the indexUid in a call's arguments.
func indexOf(arguments rawjson.Value) string {
	v, ok := rawjson.Parse([]byte(arguments.String()))
	if !ok {
		return ""
	}
	return v.Get("indexUid").String()
}

// readResult reads the answer of the host's search function: {indexUid, hits}
// or {error}.
func readResult(index, text string) result {
	r := result{index: index, coverage: -1}
	v, ok := rawjson.Parse([]byte(text))
	if !ok || v.Kind() != rawjson.Object {
		r.failure = "the answer of the search was not understood"
		return r
	}
	if uid := v.Get("indexUid").String(); uid != "" {
		r.index = uid
	}
	r.failure, r.query = v.Get("error").String(), v.Get("searchedFor").String()
	if c, err := strconv.ParseFloat(string(v.Get("coverage")), 64); err == nil {
		r.coverage = c
	}
	for it := v.Get("hits").Items(); it.Next(); {
		id := it.Value.Get("id")
		h := hit{id: id.String(), text: it.Value.Get("text").String(), title: it.Value.Get("title").String(), url: it.Value.Get("url").String()}
		h.number, _ = strconv.Atoi(string(it.Value.Get("source")))
		if id.Kind() == rawjson.Number {
			h.id = string(id)
		}
		r.hits = append(r.hits, h)
	}
	return r
}

// indexesOffered returns the indexes that the search function offers. Those that the
// question names come first, in case there are too many to search them all.
func indexesOffered(tools rawjson.Value, question string) (uids []string) {
	question = strings.ToLower(question)
	var rest []string
	for it := tools.Items(); it.Next(); {
		f := it.Value.Get("function")
		if f.Get("name").String() != searchFunction {
			continue
		}
		for uid := f.Path("parameters", "properties", "indexUid", "enum").Items(); uid.Next(); {
			name := uid.Value.String()
			if strings.Contains(question, strings.ToLower(name)) {
				uids = append(uids, name)
			} else if name != "" {
				rest = append(rest, name)
			}
		}
	}
	return append(uids, rest...)
}
