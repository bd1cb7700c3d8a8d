package workspace

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
)

// TestUIDs takes the names that a URL may have.
func TestUIDs(t *testing.T) {
	for uid, ok := range map[string]bool{"hr-2_A": true, "": false, strings.Repeat("a", MaxUID+1): false, "a/b": false, "a.b": false, "é": false} {
		if err := CheckUID(uid); (err == nil) != ok || ValidUID(uid) != ok {
			t.Errorf("uid %.10q: %v, want it taken: %v", uid, err, ok)
		}
	}
}

// TestBaseURL wants an address that a path can be put behind.
func TestBaseURL(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://llm.example/v1": true, "http://127.0.0.1:8080": true,
		"llm.example": false, "ftp://llm.example": false, "https://u:p@llm.example": false, "https://llm.example?k=1": false, "http://:80": false, "https://llm.example:99999": false,
	} {
		if err := checkBaseURL(url); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "`baseUrl`") {
			t.Errorf("%s: %v, want it taken: %v", url, err, ok)
		}
	}
	if got := trimBaseURL("https://llm.example/v1//"); got != "https://llm.example/v1" {
		t.Errorf("trimmed it is %s", got)
	}
}

// TestMerge changes what is named, resets what is null, and leaves the rest.
func TestMerge(t *testing.T) {
	text := "old"
	for _, tt := range []struct{ json, want, says string }{
		{`"new"`, "new", ""}, {`null`, "", ""}, {`3`, "old", "a string or null"}, {`"a\nb"`, "old", "control character"}, {`"` + strings.Repeat("a", maxSetting+1) + `"`, "old", "longer than"},
	} {
		got := text
		err := mergeText(&got, json.RawMessage(tt.json), "orgId", chaterr.InvalidChatPrompts)
		if got != tt.want || (err == nil) != (tt.says == "") || err != nil && (!strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "`orgId`")) {
			t.Errorf("%.20s: %q, %v, want %q and an error of %q", tt.json, got, err, tt.want, tt.says)
		}
	}
	w := &Workspace{IndexUIDs: []string{"old"}}
	for _, tt := range []struct {
		json string
		want []string
		ok   bool
	}{
		{`["a","b","a"]`, []string{"a", "b"}, true}, {`["a","b/c"]`, []string{"a", "b"}, false}, {`"a"`, []string{"a", "b"}, false}, {`[]`, []string{}, true}, {`null`, nil, true},
	} {
		if err := mergeIndexUIDs(w, json.RawMessage(tt.json)); (err == nil) != tt.ok || !slices.Equal(w.IndexUIDs, tt.want) {
			t.Errorf("indexUids %s: %q, %v, want %q", tt.json, w.IndexUIDs, err, tt.want)
		}
	}
	if w.IndexUIDs != nil {
		t.Error("null is an empty list of indexes, and not all of them")
	}
	name := promptFields[0].name
	var p PromptTexts
	if err := mergePrompts(&p, json.RawMessage(`{"`+name+`":"be brief"}`)); err != nil || *promptFields[0].at(&p) == nil || **promptFields[0].at(&p) != "be brief" {
		t.Errorf("the prompt %s: %v", name, err)
	}
	if err := mergePrompts(&p, json.RawMessage(`{"`+name+`":null}`)); err != nil || *promptFields[0].at(&p) != nil {
		t.Errorf("the prompt %s is not reset: %v", name, err)
	}
	if err := mergePrompts(&p, json.RawMessage(`{"`+name+`":[]}`)); err == nil || !strings.Contains(err.Error(), "prompts."+name) {
		t.Errorf("a prompt that is an array: %v, want an error that names it", err)
	}
}
