package httpapi_test

import (
	"encoding/json"
	"testing"
)

// TestWebhooks makes, shows, changes and deletes a webhook. What its headers
// hold is never shown whole.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	const absent = "/webhooks/9c1b2f30-5e1e-4a0f-8a3e-0d7d0c1f2a3b"
	r.play(t, []scenario{
		{name: "none", method: "GET", path: "/webhooks", status: 200, contains: []string{`"results":[]`}},
		{name: "absent", method: "GET", path: absent, status: 404, code: "webhook_not_found"},
		{name: "change of an absent one", method: "PATCH", path: absent, body: `{"url":"http://127.0.0.1:9"}`, status: 404, code: "webhook_not_found"},
	})
	a := r.do("POST", "/webhooks", `{"url":"http://127.0.0.1:9/told","headers":{"Authorization":"Bearer a long secret"}}`)
	var made struct {
		UUID       string
		IsEditable bool
	}
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != 201 || made.UUID == "" || !made.IsEditable {
		t.Fatalf("POST /webhooks = %d %s, %v", a.status, a.body, err)
	}
	path := "/webhooks/" + made.UUID
	r.play(t, []scenario{
		{name: "get", method: "GET", path: path, status: 200, contains: []string{`"http://127.0.0.1:9/told"`, `"Authorization"`}, excludes: []string{"long secret"}},
		{name: "change", method: "PATCH", path: path, body: `{"headers":{"X-Team":"blue team of the north"}}`, status: 200, contains: []string{`"X-Team"`}},
		{name: "list", method: "GET", path: "/webhooks", status: 200, contains: []string{made.UUID}, excludes: []string{"long secret"}},
		{name: "delete", method: "DELETE", path: path, status: 204},
		{name: "gone", method: "GET", path: path, status: 404, code: "webhook_not_found"},
	})
}
