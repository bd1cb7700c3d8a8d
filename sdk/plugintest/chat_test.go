package plugintest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
)

func TestChat(t *testing.T) {
	r, same := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
	roles := map[string]int{}
	parallel := false
	for range 200 {
		b := Chat(r, "m")
		var chat struct {
			Messages []struct {
				Role  string
				Calls []any `json:"tool_calls"`
			}
		}
		if err := json.Unmarshal(b, &chat); err != nil {
			t.Fatal(err)
		}
		for _, m := range chat.Messages {
			roles[m.Role]++
			parallel = parallel || len(m.Calls) > 1
		}
		if !bytes.Equal(Chat(same, "m"), b) {
			t.Fatal("the same source gave another request")
		}
	}
	for _, role := range []string{"system", "developer", "user", "assistant", "tool"} {
		if roles[role] < 50 {
			t.Errorf("%d messages of role %s in 200 requests, want more", roles[role], role)
		}
	}
	if !parallel {
		t.Error("no calls in parallel")
	}
}
