package chat

import "testing"

// A refusal of a member that only begins like one that can be asked for otherwise is of
// that member.
func TestLackIn(t *testing.T) {
	for message, want := range map[string]lack{
		"messages.1.reasoning: Extra inputs are not permitted":                                           lacksReasoning,
		"Unknown parameter: messages[1].reasoning.":                                                      lacksReasoning,
		"property 'reasoning' is unsupported":                                                            lacksReasoning,
		"body.reasoning_effort: Extra inputs are not permitted":                                          0,
		"Unknown parameter: body.reasoning.effort":                                                       0,
		"Unsupported parameter: extra_body.reasoning_tokens":                                             0,
		"'messages.1' : property 'reasoning_content' is unsupported":                                     lacksContent,
		"The `reasoning_content` in the thinking mode must be passed back to the API.":                   lacksBare,
		"the reasoning content from the previous turn must be passed back in thinking mode":              lacksBare,
		"thinking is enabled but reasoning_content is missing in assistant tool call message at index 2": lacksBare,
		"Missing `reasoning_content` field in the assistant message at message index 1":                  lacksBare,
		"System message must be at the beginning.":                                                       lacksSystems,
		"[1214] Incorrect role information":                                                              lacksSystems,
		"Unrecognized request argument supplied: stream_options":                                         lacksStreamOptions,
		"Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'":              lacksMaxTokens,
		"Function calling with a response mime type: 'application/json' is unsupported":                  lacksFormatWithTools,
		"`tool calling` is not supported with this model":                                                lacksTools,
		"Invalid value for tools[0].function.parameters: schema is not supported":                        0,
	} {
		if got := lackIn(message); got != want {
			t.Errorf("lackIn(%q) = %d, want %d", message, got, want)
		}
	}
}
