// Command go runs the official openai-go against a workspace: streamed text, a
// client tool call, a provider's error.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

func main() {
	client := openai.NewClient(option.WithBaseURL(os.Getenv("CLIENT_BASE_URL")), option.WithAPIKey(os.Getenv("CLIENT_KEY")), option.WithMaxRetries(0))
	ask := openai.UserMessage("Which films did Christopher Nolan direct?")

	answer, err := stream(client, openai.ChatCompletionNewParams{
		Model: "text", Messages: []openai.ChatCompletionMessageParamUnion{ask},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	})
	check("openai-go text", err == nil && answer.Choices[0].Message.Content != "" && answer.Usage.TotalTokens > 0, err)

	answer, err = stream(client, openai.ChatCompletionNewParams{
		Model: "tool", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("How is the weather in Paris?")},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "weather", Description: openai.String("The weather in a city"),
			Parameters: shared.FunctionParameters{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"}},
		})},
	})
	var args struct{ City string }
	if err == nil && len(answer.Choices[0].Message.ToolCalls) == 1 {
		err = json.Unmarshal([]byte(answer.Choices[0].Message.ToolCalls[0].Function.Arguments), &args)
	}
	check("openai-go tool", err == nil && args.City == "Paris" && answer.Choices[0].FinishReason == "tool_calls", err)

	_, err = stream(client, openai.ChatCompletionNewParams{Model: "error", Messages: []openai.ChatCompletionMessageParamUnion{ask}})
	failure, ok := errors.AsType[*openai.Error](err)
	check("openai-go error", ok && failure.StatusCode == 429 && strings.Contains(failure.Message, "slow down"), err)
}

// stream asks and accumulates the whole answer; the accumulator refuses chunks
// that do not belong together.
func stream(client openai.Client, params openai.ChatCompletionNewParams) (*openai.ChatCompletion, error) {
	s := client.Chat.Completions.NewStreaming(context.Background(), params)
	defer s.Close()
	var acc openai.ChatCompletionAccumulator
	for s.Next() {
		if !acc.AddChunk(s.Current()) {
			return nil, errors.New("the accumulator refused a chunk")
		}
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	if len(acc.Choices) == 0 {
		return nil, errors.New("no choice came")
	}
	return &acc.ChatCompletion, nil
}

func check(name string, ok bool, err error) {
	if !ok {
		fmt.Println("FAIL", name, err)
		os.Exit(1)
	}
	fmt.Println("ok  ", name)
}
