package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/feature"
)

// TestFeedback keeps what readers think of answers where the feature is on: for those who may ask to
// send, and for those who may change the workspace to read, to export and to delete.
func TestFeedback(t *testing.T) {
	t.Parallel()
	off := newRig(t, wish{})
	off.play(t, []scenario{
		{name: "off", method: "POST", path: "/chats/demo/feedback", body: `{"rating":"up","question":"q"}`, status: 400, code: "feature_not_enabled", contains: []string{"Rating answers"}},
		{name: "off, current key", method: "GET", path: "/keys/current", status: 200, contains: []string{`"feedback":false`}},
	})

	r := newRig(t, wish{features: []feature.Feature{feature.Feedback}})
	asks := []string{"Authorization", "Bearer " + r.key([]string{"chatCompletions", "search"}, []string{"*"})}
	reads := []string{"Authorization", "Bearer " + r.key([]string{"*.get"}, []string{"*"})}
	owns := []string{"Authorization", "Bearer " + r.key([]string{"chatsSettings.update"}, []string{"*"})}
	const path = "/chats/demo/feedback"
	large := strings.Repeat("x", 64<<10)
	many := `["` + strings.Repeat(`a","`, 64) + `a"]`
	r.play(t, []scenario{
		{name: "current key", method: "GET", path: "/keys/current", header: asks, status: 200, contains: []string{`"feedback":true`}},
		{name: "nothing yet", method: "GET", path: path, header: owns, status: 200, contains: []string{`{"results":[],"offset":0,"limit":20,"total":0}`}},
		{name: "rating", method: "POST", path: path, header: asks, body: `{"rating":"good","question":"q"}`, status: 400, code: "invalid_chat_feedback", contains: []string{"up or down"}},
		{name: "question", method: "POST", path: path, header: asks, body: `{"rating":"up","question":" "}`, status: 400, code: "invalid_chat_feedback", contains: []string{"`question` is empty"}},
		{name: "wrong type", method: "POST", path: path, header: asks, body: `{"rating":"up","question":"q","files":"a"}`, status: 400, code: "invalid_chat_feedback", contains: []string{"`files`"}},
		{name: "unknown field", method: "POST", path: path, header: asks, body: `{"rating":"up","question":"q","reasons":"a"}`, status: 400, code: "bad_request", contains: []string{"did you mean `reason`?"}},
		{name: "too long", method: "POST", path: path, header: asks, body: `{"rating":"up","question":"q","searches":[{"text":"` + large + `"}]}`, status: 400, code: "invalid_chat_feedback", contains: []string{"at most 65536 are kept"}},
		{name: "too many", method: "POST", path: path, header: asks, body: `{"rating":"up","question":"q","files":` + many + `}`, status: 400, code: "invalid_chat_feedback", contains: []string{"at most 64"}},
		{name: "no workspace", method: "POST", path: "/chats/nope/feedback", header: asks, body: `{"rating":"up","question":"q"}`, status: 404, code: "chat_not_found"},
		{name: "list of no workspace", method: "GET", path: "/chats/nope/feedback", header: owns, status: 404, code: "chat_not_found"},
		{name: "export of no workspace", method: "GET", path: "/chats/nope/feedback/export", header: owns, status: 404, code: "chat_not_found"},
		{name: "another right", method: "POST", path: path, header: owns, body: `{"rating":"up","question":"q"}`, status: 403, code: "invalid_api_key"},
		{name: "who asks reads nothing", method: "GET", path: path, header: asks, status: 403, code: "invalid_api_key"},
		{name: "who reads all settings reads nothing", method: "GET", path: path + "/export", header: reads, status: 403, code: "invalid_api_key"},
		{name: "unknown", method: "DELETE", path: path + "/nope", header: owns, status: 404, code: "chat_feedback_not_found", contains: []string{`"nope`}},
	})

	send := func(body string) string {
		t.Helper()
		var sent struct{ ID string }
		if a := r.do("POST", path, body, asks...); a.status != 201 || json.Unmarshal([]byte(a.body), &sent) != nil || sent.ID == "" {
			t.Fatalf("POST %s answers %d: %s", body, a.status, a.body)
		}
		return sent.ID
	}
	good := send(`{"rating":"up","question":"How long?","answer":"Three months [1].","model":"m","files":["handbook.md"],"searches":[{"indexUid":"notes","q":"long","filter":"","text":"three months"}]}`)
	bad := send(`{"rating":"down","reason":"It is two","question":"How many?","answer":"Three."}`)
	if again := send(`{"id":"` + bad + `","rating":"down","question":"How many?","answer":"Three."}`); again != bad {
		t.Errorf("sent again it has the id %s, not %s", again, bad)
	}
	r.play(t, []scenario{
		{name: "newest first, the reason is gone", method: "GET", path: path + "?limit=1", header: owns, status: 200, contains: []string{`"id":"` + bad, `"reason":""`, `"files":[],"searches":[]`, `"total":2`}, excludes: []string{"It is two", "How long?"}},
		{name: "the other", method: "GET", path: path + "?offset=1", header: owns, status: 200, contains: []string{`"id":"` + good, `"text":"three months"`}},
		{name: "export", method: "GET", path: path + "/export", header: owns, status: 200, contains: []string{`{"id":"` + good + `","question":"How long?","kind":"feedback","file":["handbook.md"]}` + "\n"}, excludes: []string{"How many?"}},
		{name: "delete", method: "DELETE", path: path + "/" + bad, header: owns, status: 204},
		{name: "one is left", method: "GET", path: path, header: owns, status: 200, contains: []string{`"total":1`}},
	})
	if again := send(`{"id":"` + bad + `","rating":"up","question":"How many?"}`); again == bad {
		t.Error("what was deleted came back under its id")
	}
}
