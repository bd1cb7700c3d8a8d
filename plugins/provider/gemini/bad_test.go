package main

import (
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/gemini"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestBadStreams(t *testing.T) {
	own := map[string]abi.Event{}
	for name, data := range map[string]string{
		"Gemini's wrong types":     `{"candidates":[{"content":{"parts":{"text":1},"role":7},"finishReason":{},"index":"x"}],"usageMetadata":[1],"promptFeedback":3}`,
		"parts of wrong types":     `{"candidates":[{"content":{"parts":[null,1,"x",[],{"text":{}},{"functionCall":"f"},{"functionCall":{"name":5,"args":"x"}},{"thoughtSignature":9}]}}]}`,
		"a call of Gemini without": `{"candidates":[{"content":{"parts":[{"functionCall":{}},{"functionCall":{"name":"","args":null,"id":""}}]}}]}`,
		"arguments that are none":  `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":[1,2]}}]}}]}`,
		"a finish made up":         `{"candidates":[{"finishReason":"MADE_UP"}]}`,
		"an error of Google":       `{"error":{"code":"x","message":[],"status":7,"details":{}}}`,
		"candidates of nothing":    `{"candidates":[null,{},[]]}`,
		"usage of nonsense":        `{"usageMetadata":{"promptTokenCount":-5,"candidatesTokenCount":1e40,"totalTokenCount":"x"}}`,
	} {
		own[name] = abi.Event{Data: []byte(data)}
	}
	plugintest.RunBad(t, plugintest.New(&gemini.Provider{}), "testdata", own)
}
