package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/setup/trial"
)

// TestReports replays streams of the shapes that public reports of other clients and
// gateways describe. Each is named by one of them.
func TestReports(t *testing.T) {
	t.Parallel()
	const (
		begin = `data: {"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
		hi    = `data: {"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}` + "\n\n"
		stop  = `data: {"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
		done  = "data: [DONE]\n\n"
		said  = `"text":"Hi"`
		whole = `"error":null}` // the end of an answer that did not fail
		two   = `"tool_calls":[{"name":"f","arguments":{"a":1}},{"name":"f","arguments":{"a":2}}],"finish_reason":"tool_calls"`
	)
	calls := func(items ...string) string {
		var b strings.Builder
		for _, item := range items {
			b.WriteString(`data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[` + item + `]}}]}` + "\n\n")
		}
		return b.String()
	}
	replayers := map[string]*trial.Replayer{}
	defer func() {
		for _, r := range replayers {
			_ = r.Close()
		}
	}()
	for _, tt := range []struct{ report, source, body, want string }{
		{"ollama/ollama#15457", "openAi", calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":1}"}}`, `{"index":0,"id":"b","function":{"name":"f","arguments":"{\"a\":2}"}}`) + stop + done, two},
		{"ollama/ollama#7881", "openAi", calls(`{"id":"a","function":{"name":"f","arguments":"{\"a\":1}"}}`, `{"id":"b","function":{"name":"f","arguments":"{\"a\":2}"}}`) + stop + done, two},
		{"BerriAI/litellm#33678", "vLlm", calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":1}"}},{"index":0,"id":"b","function":{"name":"f","arguments":"{\"a\":2}"}}`) + stop + done, two},
		{
			"InternLM/lmdeploy#3412", "openAi",
			calls(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`, `{"index":0,"id":"","function":{"name":null,"arguments":"{\"a\":1}"}}`, `{"index":0,"id":"b","function":{"name":"f","arguments":""}}`, `{"index":0,"id":"","function":{"name":null,"arguments":"{\"a\":2}"}}`) + stop + done, two,
		},
		{"vllm-project/vllm#18412", "vLlm", calls(`{"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}}`, `{"index":1,"function":{"name":"f","arguments":"{\"a\":2}"}}`) + stop + done, two},
		{"vllm-project/vllm#9209", "vLlm", calls(`{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}`) + stop + done, `"finish_reason":"tool_calls"`},
		{"liquidos-ai/AutoAgents#99", "openAi", calls(`{"index":0,"id":"a","type":"function","function":{"name":"f"}}`, `{"index":0,"type":"","function":{"arguments":"{\"a\":"}}`, `{"index":0,"type":"","function":{"arguments":"1}"}}`) + stop + done, `{"name":"f","arguments":{"a":1}}`},
		{"vllm-project/vllm#19662", "vLlm", strings.ReplaceAll(hi, `,"finish_reason":null`, "") + stop + done, said},
		{"brainlid/langchain#367", "openAi", strings.ReplaceAll(begin+hi, `,"finish_reason":null`, "") + stop + done, said},
		{
			"alfredapp/openai-workflow#52", "openAi", `data: {"created":1,"id":"d","model":"x","version":"2","choices":[{"index":0,"delta":{"role":"assistant","content":"H"}}],"search_info":{"mindmap":{}},"processes":{},"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}` + "\n\n" +
				`data: {"created":1,"id":"d","model":"x","version":"2","choices":[{"index":0,"delta":{"role":"assistant","content":"i"}}],"search_info":{"mindmap":{}},"processes":{},"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}` + "\n\n" + done,
			said + `,"reasoning":"","refusal":"","tool_calls":[],"finish_reason":"stop","usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}`,
		},
		{"pydantic/pydantic-ai#5170", "openAi", hi + `data: {"id":"c1","model":"m","choices":null}` + "\n\n" + stop + done, said},
		{"vercel/ai#4031", "openAi", strings.ReplaceAll(hi+stop, `"index":0,`, "") + done, said},
		{"vercel/ai#1865", "openAi", `data: {"id":"c1","model":"m","choices":[{"index":0,"text":"Hi","logprobs":null,"finish_reason":null,"delta":{"token_id":315,"role":"assistant","content":"Hi","tool_calls":null}}],"usage":null}` + "\n\n" + stop + done, said},
		{"vercel/ai#2548", "vLlm", strings.ReplaceAll(begin, `"assistant"`, "null") + hi + stop + done, said},
		{"mlflow/mlflow#12767", "azureOpenAi", strings.ReplaceAll(begin+hi+stop, `"chat.completion.chunk"`, `""`) + done, said},
		{"mnfst/llm-gateway#2053", "openAi", begin + "data: : OPENROUTER PROCESSING\n\n" + hi + "data: : OPENROUTER PROCESSING\n\n" + stop + done, said},
		{"anomalyco/opencode#50871", "openAi", "data: : keepalive\n\n" + hi + stop + done, said},
		{"theopenco/llmgateway#2334", "openAi", "id: 1\n" + begin + ": ping\n\n" + hi + ": ping\n" + stop + done, said},
		{"anomalyco/opencode#38106", "openAi", hi + "event: hermes.tool.progress\ndata: {\"tool\":\"web_search\",\"emoji\":\"x\",\"label\":\"l\",\"status\":\"running\"}\n\n" + stop + done, said},
		{"caozhiyuan/copilot-api#88", "openAi", "event: ping\ndata: \"\"\n\n" + hi + "event: ping\ndata:\n\n" + stop + done, said},
		{"anomalyco/opencode#8282", "openAi", strings.ReplaceAll(begin+hi+stop, "\n\n", "\n") + "\n" + done, said},
		{"BerriAI/litellm#10686", "vLlm", begin + `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":{"content":[{"token":"Hi","logprob":-0.1}]},"finish_reason":"length","stop_reason":null}]}` + "\n\n" + done, said + `,"reasoning":"","refusal":"","tool_calls":[],"finish_reason":"length"`},
		{"vercel/ai#13506", "openAi", `data: {"error": {"message": "Context length exceeded", "code": "CONTEXT_LENGTH_EXCEEDED"}}` + "\n\n", `"kind":"context_length"`},
		{"vercel/ai#21360", "openAi", `data: {"type":"error","error":{"type":"service_unavailable_error","code":null,"message":"Unable to verify model access right now. Please retry.","param":null},"sequence_number":2}` + "\n\n", `"kind":"overloaded"`},
		{"ggml-org/llama.cpp#16109", "openAi", begin + `error: {"code":500,"message":"boom","type":"server_error"}` + "\n\n", `"error":{"kind":"upstream","message":"boom"`},
		{"CherryHQ/cherry-studio#11287", "openAi", `data: {"id":"c1","choices":null,"created":1,"model":"m","usage":{"total_tokens":0},"base_resp":{"status_code":1002,"status_msg":"rate limit"}}` + "\n\n", `"error":{"kind":"upstream","message":"rate limit"`},
		{"SamSaffron/term-llm#314", "vLlm", calls(`{"id":"a","function":{"name":"f","arguments":""}},{"id":"b","function":{"name":"f","arguments":""}}`, `{"function":{"arguments":"{\"a\":1}"}},{"function":{"arguments":"{\"a\":2}"}}`) + stop + done, two},
		{"langchain-ai/langchain#34671", "vLlm", calls(`{"id":"a","function":{"name":"f","arguments":""}}`, `{"id":"b","function":{"name":"f","arguments":""}}`, `{"id":"a","function":{"arguments":"{\"a\":1}"}}`, `{"id":"b","function":{"arguments":"{\"a\":2}"}}`) + stop + done, two},
		{"apache/maka#1976", "openAi", calls(`{"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}}`, `{"index":0,"function":{"name":"f","arguments":"{\"a\":2}"}}`) + stop + done, two},
		{"LibreChat-AI/agents#260", "openAi", calls(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`, `{"index":0,"id":"b","function":{"name":"f","arguments":""}}`, `{"index":0,"id":"a","function":{"arguments":"{\"a\":1}"}}`, `{"index":0,"id":"b","function":{"arguments":"{\"a\":2}"}}`) + stop + done, two},
		{"agentscope-ai/agentscope-java#1223", "openAi", calls(`{"id":"a","function":{"name":"f","arguments":"{\"a\":"}}`, `{"id":null,"function":{"name":"f","arguments":"1}"}}`) + stop + done, `"tool_calls":[{"name":"f","arguments":{"a":1}}]`},
		{"comet-ml/opik#8362", "openAi", calls(`{"index":null,"id":"a","function":{"name":"f","arguments":{"a":1}}}`, `{"index":null,"id":"b","function":{"name":"f","arguments":{"a":2}}}`) + stop + done, two},
		{"PowerShell/AIShell#350", "vLlm", strings.ReplaceAll(hi, `:null`, `:"null"`) + stop + done, said},
		{"sgl-project/sglang#3912", "vLlm", strings.ReplaceAll(hi, `"finish_reason":null`, `"finish_reason":"","matched_stop":null`) + stop + done, said},
		{"vllm-project/vllm#36944", "vLlm", strings.ReplaceAll(hi, `"finish_reason":null`, `"finish_reason":"stop"`) + done, said},
		{"microsoft/autogen#6465", "openAi", hi + stop + `data: {"id":"","choices":[{"finish_reason":null,"index":0,"content_filter_offsets":{"check_offset":9},"content_filter_results":{"hate":{"filtered":false}}}],"created":0,"model":"","object":""}` + "\n\n" + done, said},
		{"simonw/llm#294", "openAi", `data: {"id":"","choices":[],"created":0,"model":"","object":"","prompt_filter_results":[{"prompt_index":0}]}` + "\n\n" + hi + stop + done, said},
		{"diegosouzapw/OmniRoute#8210", "openAi", `data: {"id":"g","choices":[],"error":{"code":502,"message":"boom"}}` + "\n\n", `"error":{"kind":"upstream","message":"boom"`},
		{"openclaw/clawrouter#101", "openAi", "event: error\ndata: {\"error\":{\"message\":\"boom\",\"type\":\"invalid_request\",\"code\":400}}\n\n", `"error":{"kind":"invalid_request","message":"boom"`},
		{"apache/rocketmq-dashboard#2178", "openAi", hi + `data: {"error":{"message":"boom"}}` + "\n\n" + done, `"error":{"kind":"upstream","message":"boom"`},
		{"diegosouzapw/OmniRoute#4942", "openAi", `{"code":500,"msg":"boom","data":null}`, `"error":{"kind":"upstream","message":"boom"`},
		{"langchain-ai/langchainjs#11579", "openAi", hi + `data: {"id":"g","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":"server_error","message":"boom"}}` + "\n\n", `"error":{"kind":"upstream","message":"boom"`},
		{"coder/coder#26005", "openAi", ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n", `"error":{"kind":"upstream"`},
		{"langchain-ai/langchainjs#9726", "vLlm", strings.ReplaceAll(hi, "Hi", "<think>R</think>Hi") + stop + done, said + `,"reasoning":"R"`},
		{"ENTERPILOT/GoModel#1041", "openAi", strings.ReplaceAll(hi, "Hi", "<thi") + strings.ReplaceAll(hi, "Hi", "nk>R</th") + strings.ReplaceAll(hi, "Hi", "ink>") + hi + stop + done, said + `,"reasoning":"R"`},
		{"vellum-ai/vellum-assistant#34556", "openAi", strings.ReplaceAll(strings.ReplaceAll(hi, "content", "reasoning_content"), "Hi", "R") + strings.ReplaceAll(hi, "Hi", "<think>R</think>") + hi + stop + done, said + `,"reasoning":"R"`},
		{"Soju06/codex-lb#1011", "openAi", strings.ReplaceAll(hi, "Hi", "H\u2028i\u0085") + stop + done, "\"text\":\"H\\u2028i\u0085\""},
		{"elizaOS/eliza#19260", "openAi", "\ufeff" + hi + stop + done, said},
		{"miruamel/xuan#194", "openAi", strings.ReplaceAll(hi+stop+done, "\n", "\r\n"), said},
		{
			"BerriAI/litellm#35663", "ollama", `{"model":"m","created_at":"t","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":false}` + "\n" +
				`{"model":"m","created_at":"t","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}` + "\n",
			`{"name":"f","arguments":{"a":1}}],"finish_reason":"tool_calls"`,
		},
	} {
		t.Run(tt.report, func(t *testing.T) {
			r := replayers[tt.source]
			if r == nil {
				var err error
				if r, err = trial.OpenReplayer(context.Background(), tt.source, trial.Options{CacheDir: house.CompiledModules(t)}, house.Shipped(t, strings.ToLower(tt.source))); err != nil {
					t.Fatal(err)
				}
				replayers[tt.source] = r
			}
			for _, cut := range []int{0, 3} {
				got, err := r.Aggregate(t.Context(), trial.Recording{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: []byte(tt.body), BaseURL: "http://127.0.0.1:9", Rechunk: cut})
				if err != nil {
					t.Fatal(err)
				}
				b, err := json.Marshal(got)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(b), tt.want) || !strings.Contains(tt.want, `"error":{`) && !strings.Contains(tt.want, `"kind"`) && !strings.HasSuffix(string(b), whole) {
					t.Errorf("%s\nwant %s in it", b, tt.want)
				}
			}
		})
	}
}
