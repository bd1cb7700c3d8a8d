// Command v1 runs the official openai-go against /v1, unmodified and at its
// defaults. Each check prints a line, "ok  CLIENT | what it shows".
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

// long is the model of an answer of a quarter of an hour.
const long = "demo/c20000-d50"

var (
	ctx    = context.Background()
	failed bool
	city   = map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"}, "additionalProperties": false}
)

func main() {
	base := option.WithBaseURL(os.Getenv("CLIENT_BASE_URL"))
	key := option.WithAPIKey(os.Getenv("CLIENT_KEY"))
	client := openai.NewClient(base, key)

	models, err := client.Models.List(ctx)
	check("models", err == nil && len(models.Data) > 0, err)
	one, err := client.Models.Get(ctx, "demo/text")
	check("models by name", err == nil && one.ID == "demo/text", err)

	answer, err := client.Chat.Completions.New(ctx, ask("demo/text"))
	check("whole, usage", err == nil && strings.Contains(answer.Choices[0].Message.Content, "Inception") && answer.Usage.TotalTokens > 0, err)

	streamed := ask("demo/text")
	streamed.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	answer, err = accumulate(client, streamed)
	check("streamed, usage", err == nil && strings.Contains(answer.Choices[0].Message.Content, "Inception") && answer.Usage.TotalTokens > 0, err)

	tool := ask("demo/tool")
	tool.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "weather", Description: openai.String("The weather in a city"), Parameters: city,
	})}
	answer, err = client.Chat.Completions.New(ctx, tool)
	check("tools", err == nil && len(answer.Choices[0].Message.ToolCalls) == 1 && cityOf(answer.Choices[0].Message.ToolCalls[0].Function.Arguments) == "Paris", err)

	structured := ask("demo/json")
	structured.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "city", Schema: city, Strict: openai.Bool(true)}}
	answer, err = client.Chat.Completions.New(ctx, structured)
	check("structured output", err == nil && cityOf(answer.Choices[0].Message.Content) == "Paris", err)

	stranger := openai.NewClient(base, option.WithAPIKey("nope"))
	_, err = stranger.Chat.Completions.New(ctx, ask("demo/text"))
	check("wrong key", failsWith(err, 401, "invalid_api_key"), err)
	_, err = client.Chat.Completions.New(ctx, ask("nope"))
	check("unknown model", failsWith(err, 404, "model_not_found"), err)
	// It would ask twice more, and wait for the seven seconds of Retry-After each time.
	_, err = client.Chat.Completions.New(ctx, ask("demo/error"), option.WithMaxRetries(0))
	check("429", failsWith(err, 429, "rate_limit_exceeded"), err)

	left, cancel := context.WithTimeout(ctx, 700*time.Millisecond)
	defer cancel()
	_, err = client.Chat.Completions.New(left, ask(long))
	check("cancel of a whole answer", errors.Is(err, context.DeadlineExceeded), err)
	stream := client.Chat.Completions.NewStreaming(ctx, ask(long))
	check("cancel of a stream", stream.Next() && stream.Close() == nil, stream.Err())

	response, err := client.Responses.New(ctx, responses.ResponseNewParams{Model: "demo/text", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Which films?")}})
	check("responses whole", err == nil && strings.Contains(response.OutputText(), "Inception"), err)
	if failed {
		os.Exit(1)
	}
}

func ask(model string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Which films did Christopher Nolan direct?")}}
}

// accumulate asks and puts the answer together; the accumulator refuses chunks that
// do not belong together.
func accumulate(client openai.Client, params openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
	s := client.Chat.Completions.NewStreaming(ctx, params)
	defer s.Close()
	var acc openai.ChatCompletionAccumulator
	for s.Next() {
		if !acc.AddChunk(s.Current()) {
			return nil, errors.New("the accumulator refused a chunk")
		}
	}
	return &acc.ChatCompletion, s.Err()
}

func cityOf(text string) string {
	var got struct{ City string }
	_ = json.Unmarshal([]byte(text), &got) // what is not JSON has no city
	return got.City
}

func failsWith(err error, status int, code string) bool {
	failure, ok := errors.AsType[*openai.Error](err)
	return ok && failure.StatusCode == status && failure.Code == code
}

func check(shows string, ok bool, err error) {
	word := "ok  "
	if !ok {
		word, failed = "FAIL", true
	}
	fmt.Println(word, "openai-go |", shows)
	if !ok {
		fmt.Println("    ", err)
	}
}
