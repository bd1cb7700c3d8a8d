package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

var (
	versions    = []string{"2023-07-01-preview", "2024-02-01", "2024-08-01-preview", "2024-09-01-preview", "2024-10-21", "2024-12-01-preview", "2025-04-01-preview", "v1", "preview"}
	deployments = []string{"gpt-35-turbo", "gpt-4o", "o1-mini", "o3", "gpt-5", "gpt-5.6", "eu-gpt-5.4", "mine"}
	bases       = []string{"https://res.openai.azure.com", "https://res.openai.azure.com/openai/", "https://res.openai.azure.com/openai/v1", "https://res.services.ai.azure.com/models"}
)

// TestEncodeProperty puts conversations of all kinds to rules that are written
// here again, from Azure's documentation.
func TestEncodeProperty(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 24))
	for i := range 3000 {
		chat := plugintest.Chat(r, "m")
		s := settings(bases[r.IntN(len(bases))], versions[r.IntN(len(versions))], deployments[r.IntN(len(deployments))])
		h, body := encode(t, s, string(chat))
		if problems := check(h, body, s, bytes.Contains(chat, []byte(`"stream_options":null`))); len(problems) > 0 {
			t.Fatalf("request %d: %v\nfrom %s\nto   %s %s", i, problems, chat, h.URL, h.Body)
		}
		// The conversation itself is Azure's as it is OpenAI's.
		var before map[string]any
		if err := json.Unmarshal(chat, &before); err != nil {
			t.Fatal(err)
		}
		if got, want := conversation(body), conversation(before); got != want {
			t.Fatalf("request %d: the messages became %s, want %s", i, got, want)
		}
	}
}

func check(h abi.EncodeResponse, body map[string]any, s abi.Settings, unasked bool) (problems []string) {
	rule := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	_, query, dated := strings.Cut(h.URL, "?api-version=2")
	v1, models := strings.Contains(h.URL, "/openai/v1/"), strings.Contains(h.URL, "/models/")
	rule(v1 != dated, "a version of the API goes with a dated address, and with no other: %s", h.URL)
	rule(!strings.Contains(strings.TrimPrefix(h.URL, "https://"), "//"), "a doubled slash: %s", h.URL)
	rule(h.Headers["api-key"] == "" && h.Headers["Authorization"] == "", "headers %v", h.Headers)
	for name := range h.Headers {
		rule(!strings.HasPrefix(name, "OpenAI-"), "a header of OpenAI's own: %s", name)
	}
	rule(!v1 && !models || body["model"] == s.DeploymentID, "model %v, with nothing else to name the deployment", body["model"])
	rule(body["stream"] == true, "stream %v", body["stream"])

	d := s.DeploymentID
	reasons := strings.HasPrefix(d, "o") || strings.Contains(d, "gpt-5")
	_, oldLimit := body["max_tokens"]
	_, newLimit := body["max_completion_tokens"]
	_, usage := body["stream_options"]
	rule(!reasons || !oldLimit, "max_tokens for a model that reasons")
	since := "2" + query // the version, where it is dated
	rule(!dated || since >= "2024-09-01" || !usage, "stream_options with %s", since)
	rule(!dated || since >= "2024-09-01" || reasons || !newLimit, "max_completion_tokens with %s", since)
	rule(models || dated && since < "2024-09-01" || usage != unasked, "no usage asked for with %s", since)

	tools, there := body["tools"].([]any)
	rule(!there || len(tools) > 0, "tools is empty")
	_, choice := body["tool_choice"]
	_, parallel := body["parallel_tool_calls"]
	rule(there || !choice && !parallel, "tool_choice or parallel_tool_calls without tools")
	late := strings.Contains(d, "gpt-5.6") || strings.Contains(d, "gpt-5.4")
	rule(!there || !late || body["reasoning_effort"] == "none", "tools with reasoning_effort %v", body["reasoning_effort"])

	roles := []string{"system", "user", "assistant", "tool"}
	if reasons && d != "o1-mini" && (!dated || since >= "2024-12-01") {
		roles[0] = "developer"
	} else if d == "o1-mini" {
		roles = roles[1:]
	}
	for _, m := range body["messages"].([]any) {
		role := m.(map[string]any)["role"].(string)
		rule(slices.Contains(roles, role), "role %s for %s with %s", role, d, since)
	}
	return problems
}

// conversation writes the messages with one name for all roles of
// instructions.
func conversation(body map[string]any) string {
	messages := body["messages"].([]any)
	for _, m := range messages {
		m := m.(map[string]any)
		if role := m["role"]; role == "developer" || role == "system" {
			m["role"] = "user"
		}
	}
	b, err := json.Marshal(messages)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
