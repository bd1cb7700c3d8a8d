package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi/manifest"
)

func TestGuardManifest(t *testing.T) {
	guard := func(member string, value any) string {
		m := map[string]any{
			"abi": 2, "kind": "guard", "name": "mask", "version": "1.0.0", "stages": []string{"question", "answer"}, "holdBack": 256,
			"triggers": []any{map[string]any{"bytes": "0-9@-"}, map[string]any{"text": "://"}, map[string]any{"option": "patterns"}},
			"notes":    []string{"email"}, "options": map[string]any{"patterns": map[string]any{"type": "string"}},
		}
		if member != "" {
			m[member] = value
		}
		b, _ := json.Marshal(m)
		return string(b)
	}
	if _, err := manifest.Parse([]byte(guard("", nil))); err != nil {
		t.Errorf("Parse of a guard: %v", err)
	}
	for _, test := range []struct {
		member string
		value  any
		want   string
	}{
		{"abi", 1, "a guard follows ABI 2"},
		{"source", "openAi", "a guard reaches nothing"},
		{"grants", map[string]any{"http": []string{"https://a.example"}}, "a guard reaches nothing"},
		{"options", map[string]any{"patterns": map[string]any{"type": "string", "secret": true}}, "a guard gets no secrets"},
		{"stages", []string{}, "stages is empty"},
		{"stages", []string{"answers"}, `stages has "answers"`},
		{"stages", []string{"answer", "answer"}, `stages has "answer" twice`},
		{"stages", []string{"question"}, "holdBack and triggers are for"},
		{"holdBack", 4097, "holdBack is 4097"},
		{"holdBack", -1, "holdBack is -1"},
		{"triggers", []any{map[string]any{}}, "triggers[0] must have one of"},
		{"triggers", []any{map[string]any{"bytes": "9-0"}}, `the range "9-0"`},
		{"triggers", []any{map[string]any{"bytes": "ä"}}, "not ASCII"},
		{"triggers", []any{map[string]any{"option": "words"}}, `names the option "words"`},
		{"triggers", []any{map[string]any{"text": strings.Repeat("x", 65)}}, "1 to 64 bytes"},
		{"notes", []string{"e\nmail"}, "which is not a label"},
		{"notes", []string{"email", "email"}, `notes has "email" twice`},
		{"metrics", []any{map[string]any{"path": "x"}}, "belong to collectors"},
		{"timeouts", map[string]any{"silenceSeconds": 2}, "belong to providers"},
		{"selfTest", []any{map[string]any{"call": "decode", "input": map[string]any{}, "output": map[string]any{}}}, "selfTest[0].call"},
	} {
		if _, err := manifest.Parse([]byte(guard(test.member, test.value))); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse of a guard with %s %v: %v, want %q", test.member, test.value, err, test.want)
		}
	}
	provider := `{"abi":2,"kind":"provider","name":"p","version":"1.0.0","source":"x","stages":["answer"]}`
	if _, err := manifest.Parse([]byte(provider)); err == nil || !strings.Contains(err.Error(), "belong to guards") {
		t.Errorf("Parse of a provider with stages: %v", err)
	}
}
