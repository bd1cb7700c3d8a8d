package bench

import (
	"fmt"
	"strings"
)

// A Form is a wire form: how a stream begins, the format of a word in it, how it
// ends. Words come in events of the size that the real ones have, 100 to 300
// bytes.
type Form struct{ Begin, Word, End string }

// FormOf returns the form that a request to path is answered in, and the model's
// name where the path has it and not the body.
func FormOf(path string) (f Form, model string, ok bool) {
	if before, ofGemini := strings.CutSuffix(path, ":streamGenerateContent"); ofGemini {
		return gemini, before[strings.LastIndexByte(before, '/')+1:], true
	}
	switch {
	case strings.HasSuffix(path, "/messages"):
		return anthropic, "", true
	case strings.HasSuffix(path, "/chat/completions"):
		return openAI, "", true
	}
	return f, "", false
}

// Sources are those whose wire forms there are.
func Sources() []string {
	return []string{"vLlm", "openAi", "azureOpenAi", "mistral", "gemini", "anthropic"}
}

// Settings are those of a workspace, as JSON, whose provider of that source is
// at base, with indexes as its indexUids.
func Settings(source, base, indexes string) string {
	more := map[string]string{
		"openAi":      `"baseUrl":"%s/v1","apiKey":"sk-bench-0123456789abcdef"`,
		"azureOpenAi": `"baseUrl":"%s","apiKey":"bench-0123456789abcdef","deploymentId":"bench","apiVersion":"2024-10-21","orgId":"bench"`,
		"mistral":     `"baseUrl":"%s/v1","apiKey":"bench-0123456789abcdef"`,
		"gemini":      `"baseUrl":"%s/v1beta","apiKey":"bench-0123456789abcdef"`,
		"anthropic":   `"baseUrl":"%s/v1","apiKey":"sk-bench-0123456789abcdef"`,
		"vLlm":        `"baseUrl":"%s/v1"`,
	}
	return fmt.Sprintf(`{"source":%q,"indexUids":%s,%s}`, source, indexes, fmt.Sprintf(more[source], base))
}

const openAIHead = `data: {"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1760000000,"model":"gpt-4.1-mini-2025-04-14","service_tier":"default","system_fingerprint":"fp_0123456789",`

var (
	openAI = Form{
		Begin: openAIHead + `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n",
		Word:  openAIHead + `"choices":[{"index":0,"delta":{"content":%q},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n",
		End: openAIHead + `"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}` + "\n\n" +
			openAIHead + `"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}` + "\n\ndata: [DONE]\n\n",
	}
	gemini = Form{
		Word: `data: {"candidates": [{"content": {"parts": [{"text": %q}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 11,"candidatesTokenCount": 42,"totalTokenCount": 53,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 11}]},"modelVersion": "gemini-2.5-flash","responseId": "abcdefghijklmnopqrstuvwx"}` + "\r\n\r\n",
		End:  `data: {"candidates": [{"content": {"parts": [{"text": ""}],"role": "model"},"finishReason": "STOP","index": 0}],"usageMetadata": {"promptTokenCount": 11,"candidatesTokenCount": 42,"totalTokenCount": 53,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 11}]},"modelVersion": "gemini-2.5-flash","responseId": "abcdefghijklmnopqrstuvwx"}` + "\r\n\r\n",
	}
	anthropic = Form{
		Begin: `event: message_start` + "\n" + `data: {"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}}}` + "\n\n" +
			`event: content_block_start` + "\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n",
		Word: `event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}` + "\n\n",
		End: `event: content_block_stop` + "\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n" +
			`event: message_delta` + "\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}` + "\n\n" +
			`event: message_stop` + "\n" + `data: {"type":"message_stop"}` + "\n\n",
	}
)
