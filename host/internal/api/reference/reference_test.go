package reference

import (
	"strings"
	"testing"
)

const small = `{
 "info": {"title": "T", "version": "1", "description": "<script>alert(1)</script> and ` + "`code`" + `"},
 "tags": [{"name": "Search", "description": "about"}],
 "paths": {"/indexes/{uid}/search": {"post": {
  "operationId": "search", "tags": ["Search"], "summary": "<b>Search</b>", "security": [{"bearer": ["search"]}],
  "parameters": [{"in": "path", "name": "uid", "required": true, "example": "movies", "schema": {"type": "string"}}],
  "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Query"}, "example": {"q": "it's"}}}},
  "responses": {"200": {"description": "OK", "content": {"text/event-stream": {"schema": {"type": "string"}, "x-event-schema": {"$ref": "#/components/schemas/Query"}}}}, "404": {"description": "no"}}
 }}},
 "components": {"schemas": {"Query": {"type": "object", "required": ["q"], "properties": {
  "q": {"type": ["string", "null"], "description": "words"}, "at": {"type": "string", "format": "date-time"},
  "all": {"type": "array", "items": {"anyOf": [{"$ref": "#/components/schemas/Query"}, {"type": "null"}]}}, "by": {"type": "object", "additionalProperties": {"type": "integer"}}, "any": {}
 }}}}
}`

// TestPage renders a small description, and looks for what a reader needs.
func TestPage(t *testing.T) {
	b, err := Page([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, want := range []string{
		`&lt;script&gt;alert(1)&lt;/script&gt; and <code>code</code>`, `&lt;b&gt;Search&lt;/b&gt;`, `<code class="path">/indexes/{uid}/search</code>`,
		`The key must allow <code>search</code>.`, `<code>q</code> <b>required</b></dt><dd><span class="type">string or null</span><p>words</p>`,
		`<span class="type">array of <a href="#object-Query">Query</a> or null</span>`, `<span class="type">object of integer</span>`, `<span class="type">time</span>`, `<span class="type">any</span>`,
		`id="object-Query"`, `curl -X POST http://127.0.0.1:7700/indexes/movies/search`, `-d &#39;{&#34;q&#34;:&#34;it&#39;\&#39;&#39;s&#34;}&#39;`, `per event`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s:\n%s", want, text)
		}
	}
	for _, bad := range []string{"<script", "style=", "onclick", "http-equiv"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %s", bad)
		}
	}
	if _, err := Page([]byte("{")); err == nil {
		t.Error("half a description makes a page")
	}
}
