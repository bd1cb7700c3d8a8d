package httpapi_test

import (
	"testing"

	"github.com/parley-search/parley/host/internal/task"
)

// TestRenderTemplate has templates of settings and of requests rendered with documents
// and searches, as clients of Meilisearch ask for it and the console does.
func TestRenderTemplate(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	r.play(t, []scenario{
		{name: "fragments are a feature", method: "POST", path: "/render-template", body: `{"template":{"kind":"inlineFragment","inline":{}}}`, status: 400, code: "feature_not_enabled"},
		{name: "switch it on", method: "PATCH", path: "/experimental-features", body: `{"multimodal":true}`, status: 200},
	})
	for _, a := range []answer{
		r.do("PATCH", "/indexes/shop/settings", `{"chat":{"documentTemplate":"{{ doc.name }} by {{ doc.maker }}"}}`),
		r.do("PATCH", "/indexes/bare/settings", `{"embedders":{
		"words":{"source":"rest","url":"http://127.0.0.1:1/","dimensions":2,"documentTemplate":"{{ doc.name }} by {{ doc.maker }}","documentTemplateMaxBytes":30,"request":{"input":"{{text}}"},"response":{"v":"{{embedding}}"}},
		"parts":{"source":"rest","url":"http://127.0.0.1:1/","dimensions":2,"request":{"input":"{{fragment}}"},"response":{"v":"{{embedding}}"},"indexingFragments":{"name":{"value":{"text":"{{ doc.name }}","n":1}}},"searchFragments":{"both":{"value":["{{ q }}","{{ media.image }}"]}}}}}`),
	} {
		if got := r.task(a); got.Status != task.Succeeded {
			t.Fatalf("task = %+v", got)
		}
	}
	const stored = `"input":{"kind":"indexDocument","indexUid":"shop","id":"1"}`
	render := func(name, template, input, want string) scenario {
		if input != "" {
			input = "," + input
		}
		return scenario{name: name, method: "POST", path: "/render-template", body: `{"template":` + template + input + `}`, status: 200, contains: []string{want}}
	}
	wrong := func(name, template, input, code string, says ...string) scenario {
		sc := render(name, template, input, "")
		sc.status, sc.code, sc.contains = 400, code, says
		return sc
	}
	chat, words := `{"kind":"chatDocumentTemplate","indexUid":"shop"}`, `{"kind":"documentTemplate","indexUid":"bare","embedder":"words"}`
	inline := func(text string) string { return `{"kind":"inlineDocumentTemplate","inline":"` + text + `"}` }
	r.play(t, []scenario{
		render("the chat's, which sees what is displayed", chat, stored, `{"template":"{{ doc.name }} by {{ doc.maker }}","rendered":"Green tea & honey by "}`),
		render("the template alone", chat, "", `"rendered":null}`),
		render("an embedder's, which sees all", words, stored, `"rendered":"Green tea & honey by hidden in"}`),
		render("with another bound", `{"kind":"documentTemplate","indexUid":"bare","embedder":"words","documentTemplateMaxBytes":5}`, stored, `"rendered":"Green"}`),
		render("inline", inline("{{ doc.name | upcase }}"), stored, `"rendered":"GREEN TEA & HONEY"}`),
		render("inline, of hidden attributes", inline("-{{ doc.maker }}-"), stored, `"rendered":"--"}`),
		render("the default", inline(""), `"input":{"kind":"inlineDocument","inline":{"a":1,"b":null,"c":["x"]}}`, `"rendered":"a: 1\nc: [\"x\"]\n"}`),
		render("a fragment", `{"kind":"indexingFragment","indexUid":"bare","embedder":"parts","fragment":"name"}`, stored, `"template":{"text":"{{ doc.name }}","n":1}`),
		render("a fragment, rendered", `{"kind":"indexingFragment","indexUid":"bare","embedder":"parts","fragment":"name"}`, stored, `"rendered":{"n":1,"text":"Green tea & honey"}}`),
		render("a fragment of a search", `{"kind":"searchFragment","indexUid":"bare","embedder":"parts","fragment":"both"}`, `"input":{"kind":"inlineSearch","inline":{"q":"tea","media":{"image":"i"}}}`, `"rendered":["tea","i"]}`),
		wrong("another kind", `{"kind":"x"}`, "", "invalid_render_template", "`x`", "chatDocumentTemplate"),
		wrong("a field too many", `{"kind":"chatDocumentTemplate","indexUid":"bare","embedder":"words"}`, "", "invalid_render_template", "`template.embedder` does not go"),
		wrong("an unknown field", `{"kind":"chatDocumentTemplate","index":"shop"}`, "", "bad_request", "indexUid"),
		wrong("no such embedder", `{"kind":"documentTemplate","indexUid":"bare","embedder":"x"}`, "", "invalid_render_template", "`x`"),
		wrong("no template", `{"kind":"documentTemplate","indexUid":"bare","embedder":"parts"}`, "", "invalid_render_template", "no document template"),
		wrong("no such fragment", `{"kind":"searchFragment","indexUid":"bare","embedder":"parts","fragment":"name"}`, "", "invalid_render_template", "`name`"),
		wrong("a fragment that does not fit", `{"kind":"searchFragment","indexUid":"bare","embedder":"parts","fragment":"both"}`, `"input":{"kind":"inlineSearch","inline":{"q":"tea"}}`, "template_rendering_error", "absent"),
		wrong("a search for a template of documents", chat, `"input":{"kind":"inlineSearch","inline":{"q":"tea"}}`, "invalid_render_input", "with a document"),
		wrong("no object", chat, `"input":{"kind":"inlineDocument","inline":1}`, "invalid_render_input", "object"),
		wrong("another input", chat, `"input":{"kind":"x"}`, "invalid_render_input", "inlineSearch"),
		wrong("a bound that cannot be", `{"kind":"inlineDocumentTemplate","inline":"x","documentTemplateMaxBytes":0}`, "", "invalid_render_template", "1 to 65536"),
		{name: "no such index", method: "POST", path: "/render-template", body: `{"template":{"kind":"chatDocumentTemplate","indexUid":"nope"}}`, status: 404, code: "index_not_found"},
		{name: "switch the route off", method: "PATCH", path: "/experimental-features", body: `{"renderRoute":false}`, status: 200},
		wrong("off", chat, stored, "feature_not_enabled", "renderRoute"),
	})
}
