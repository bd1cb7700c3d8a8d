package gemini

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/sdk/plugintest"
)

func BenchmarkDecode(b *testing.B) {
	const usage = `"usageMetadata": {"promptTokenCount": 71,"candidatesTokenCount": 33,"totalTokenCount": 197,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 71}],"thoughtsTokenCount": 93},"modelVersion": "gemini-2.5-flash","responseId": "FyIhav7bJNyw4-EP6eCsqA0"}`
	text := func(s string) string {
		return `data: {"candidates": [{"content": {"parts": [{"text": "` + s + `"}],"role": "model"},"index": 0}],` + usage + "\r\n\r\n"
	}
	call := `data: {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f","args": {"q": "nolan"}},"thoughtSignature": "` + strings.Repeat("QUJD", 200) + `"}],"role": "model"},"finishReason": "STOP","index": 0}],` + usage + "\r\n\r\n"
	for _, bb := range []struct{ name, body string }{
		{"text", text(" hello world, these are") + text(" some more words of it")},
		{"with escapes", text(` hello\nworld`) + text(` \"more\" words`)},
		{"2 KiB of text", text(strings.Repeat("word ", 400))},
		{"call", call},
	} {
		b.Run(bb.name, func(b *testing.B) { plugintest.Bench(b, plugintest.New(&Provider{}), []byte(bb.body)) })
	}
}
