package e2e

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// TestAttackBetweenAnswers has a plugin without any grant tell each who asks what
// it was asked before. Nobody learns anything of another answer, be it of another
// workspace or of the same one; with --plugin-isolation=workspace, answers of one
// workspace may.
//
//parley:option plugin-isolation
func TestAttackBetweenAnswers(t *testing.T) {
	t.Parallel()
	const secret = "TENANT-A-SECRET"
	for _, isolation := range []string{"", "workspace"} {
		t.Run("isolation "+isolation, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "recall-1.0.0.wasm", house.Packed(t, guest(t, "plugin", "recall"), "recall", map[string]any{
				"settings": map[string]any{}, "grants": map[string]any{},
			}))
			flags := map[string]string{"plugin-dir": dir, "plugin-lock": "off"}
			if isolation != "" {
				flags["plugin-isolation"] = isolation
			}
			h := house.Open(t, flags)
			for _, w := range []string{"a", "b"} {
				h.Must("PATCH", "/chats/"+w+"/settings", `{"source":"recall"}`)
			}
			ask := func(workspace, question string) string {
				t.Helper()
				r := h.Call("POST", "/chats/"+workspace+"/chat/completions", `{"model":"m","messages":[{"role":"user","content":"`+question+`"}]}`)
				if r.Status != http.StatusOK {
					t.Fatalf("status %d: %s", r.Status, r.Body)
				}
				var f house.Frames
				f.WriteString(r.Body)
				text, _ := f.Aggregate(t)["text"].(string)
				told, err := hex.DecodeString(text)
				if err != nil || len(told) != 2048 {
					t.Fatalf("it tells %q, %v", text, err)
				}
				return strings.Trim(string(told), "\x00")
			}
			within := 0    // how often a workspace was told of itself
			for range 20 { // whichever instance serves
				ask("a", secret)
				other := ask("b", "what was that?")
				ask("a", secret)
				same := ask("a", "and before?")
				if strings.Contains(other, secret) {
					t.Fatalf("another workspace is told %q", other)
				}
				if isolation == "" && other+same != "" {
					t.Fatalf("others are told %q and %q", other, same)
				}
				if strings.Contains(same, secret) {
					within++
				}
			}
			if isolation == "workspace" && within == 0 {
				t.Error("no answer of a workspace found anything of the one before: the option does nothing")
			}
			var plugins struct {
				Results []struct{ Resets, Renewals int }
			}
			if err := json.Unmarshal([]byte(h.Must("GET", "/plugins", "").Body), &plugins); err != nil {
				t.Fatal(err)
			}
			// With few answers at once each workspace may have an instance of its own.
			if p := plugins.Results; len(p) != 1 || p[0].Resets+p[0].Renewals == 0 {
				t.Errorf("GET /plugins: %+v, want resets or renewals", p)
			}
		})
	}
}
