package main

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

// TestRecordedParts: a user's parts that are more than text, as recorded requests have
// them which the provider took, come out as they were.
func TestRecordedParts(t *testing.T) {
	cases, err := plugintest.ReadCorpus("anthropic")
	if err != nil {
		t.Skip("no recordings of providers: CORPUS names their folder, ../shared/corpus unless it is set")
	}
	found := 0
	for _, c := range cases {
		var recorded struct {
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}
		if json.Unmarshal(c.Request, &recorded) != nil {
			continue
		}
		for _, m := range recorded.Messages {
			var blocks []dict
			if m.Role != "user" || json.Unmarshal(m.Content, &blocks) != nil {
				continue
			}
			if parts := partsOf(blocks); parts != nil {
				found++
				checkParts(t, c.Name, parts, blocks)
			}
		}
	}
	if found < 3 {
		t.Errorf("%d recorded messages have such parts, want 3", found)
	}
}

// checkParts holds the content that is made of parts to recorded blocks.
func checkParts(t *testing.T, name string, parts, blocks []dict) {
	t.Helper()
	chat, err := json.Marshal(dict{"model": "claude-sonnet-4-5", "messages": []dict{{"role": "user", "content": parts}}})
	if err != nil {
		t.Fatal(err)
	}
	r, body := encode(t, abi.Settings{}, string(chat))
	got := body["messages"].([]any)[0].(dict)["content"].([]any)
	for i, block := range blocks {
		delete(block, "citations") // which a chat has no place for
		if i >= len(got) || !reflect.DeepEqual(got[i], any(block)) {
			t.Errorf("%s: content %.500v\nwant %.500v", name, got, blocks)
		}
		source, _ := block["source"].(dict)
		if beta := r.Headers["anthropic-beta"]; source["type"] == "file" && beta != "files-api-2025-04-14" {
			t.Errorf("%s: anthropic-beta %q", name, beta)
		}
	}
}

// partsOf returns blocks as the parts of a chat, nil where none is more than text.
func partsOf(blocks []dict) (parts []dict) {
	media := false
	for _, b := range blocks {
		part := dict{"type": "text", "text": b["text"]}
		source, _ := b["source"].(dict)
		data, _ := source["data"].(string)
		if source["type"] == "text" {
			data = base64.StdEncoding.EncodeToString([]byte(data))
		}
		mime, _ := source["media_type"].(string)
		uri := "data:" + mime + ";base64," + data
		switch b["type"] {
		case "text":
		case "image":
			part, media = dict{"type": "image_url", "image_url": dict{"url": uri}}, true
		case "document":
			file := dict{"file_data": uri}
			if source["type"] == "file" {
				file = dict{"file_id": source["file_id"]}
			}
			if title, ok := b["title"]; ok {
				file["filename"] = title
			}
			part, media = dict{"type": "file", "file": file}, true
		default:
			return nil
		}
		parts = append(parts, part)
	}
	if !media {
		return nil
	}
	return parts
}
