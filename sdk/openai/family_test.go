package openai

import (
	"testing"

	"github.com/parley-search/parley/sdk/rawjson"
)

func TestFamilyOf(t *testing.T) {
	tests := []struct {
		model          string
		known, reasons bool
		role           string
		refuses        bool
	}{
		{"", false, false, "system", false},
		{"llama3", false, false, "system", false},
		{"gpt-oss-120b", false, false, "system", false},
		{"olmo-2", false, false, "system", false},
		{"gpt-3.5-turbo", true, false, "system", false},
		{"gpt-35-turbo-16k", true, false, "system", false},
		{"gpt4o", true, false, "system", false},
		{"gpt-4.1-mini", true, false, "system", false},
		{"o1-mini", true, true, "user", false},
		{"o3", true, true, "developer", false},
		{"gpt5", true, true, "developer", false},
		{"gpt-5-chat-latest", true, false, "developer", false},
		{"gpt-5.2_2025-12-11", true, true, "developer", false},
		{"gpt54", true, true, "developer", true},
		{"openai/gpt-5.6", true, true, "developer", true},
	}
	for _, tt := range tests {
		f := FamilyOf(tt.model)
		if f.Known() != tt.known || f.Reasons() != tt.reasons || f.SystemRole() != tt.role || f.RefusesToolsWhileReasoning() != tt.refuses {
			t.Errorf("FamilyOf(%q): known %v, reasons %v, role %s, refuses tools %v; want %v, %v, %s, %v",
				tt.model, f.Known(), f.Reasons(), f.SystemRole(), f.RefusesToolsWhileReasoning(), tt.known, tt.reasons, tt.role, tt.refuses)
		}
	}
}

func TestFit(t *testing.T) {
	const chat = `{"messages":[{"role":"system","content":"s"}],"max_tokens":5,"reasoning_effort":"low","tools":[{}]}`
	for model, want := range map[string]string{
		"gpt-4o":  chat,
		"gpt-5":   `{"messages":[{"role":"developer","content":"s"}],"reasoning_effort":"low","tools":[{}],"max_completion_tokens":5}`,
		"gpt-5.4": `{"messages":[{"role":"developer","content":"s"}],"reasoning_effort":"none","tools":[{}],"max_completion_tokens":5}`,
	} {
		body := rawjson.EditOf(rawjson.Value(chat))
		FamilyOf(model).Fit(&body)
		if got := string(body.Value()); got != want {
			t.Errorf("Fit for %s = %s, want %s", model, got, want)
		}
	}
}
