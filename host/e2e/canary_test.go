package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// canary is what no line of the log may hold, wherever a client or a provider
// says it.
const canary = "canary4711"

// TestLogCanaries says the canary in every place where a client says something,
// in requests that succeed and in such that fail, with every line written that
// there is.
func TestLogCanaries(t *testing.T) {
	t.Parallel()
	w := house.NewWire(t)
	h := house.Open(t, map[string]string{"master-key": "", "experimental-enable-metrics": "true"}, house.Shipped(t, "vllm"))
	w.On("searches", func(x *house.Exchange) {
		if x.Nth == 1 {
			x.Say(house.Stream + searchCanary + house.Finish)
			return
		}
		x.Say(house.Stream + house.Delta(canary) + house.Finish)
	})
	w.On("breaks off", func(x *house.Exchange) { x.Say(house.Chunks + house.Chunk(house.Delta(canary)) + "fff\r\n" + canary) })
	w.On("refuses", func(x *house.Exchange) {
		x.Say(house.Answered(http.StatusBadRequest, "", `{"error":{"message":"`+canary+`"}}`))
	})
	w.On("breaks", func(x *house.Exchange) { x.Say(house.Answered(http.StatusInternalServerError, "", canary)) })
	w.On("talks nonsense", func(x *house.Exchange) { x.Say(house.Stream + "data: " + canary + "\n\n") })
	w.On("no HTTP", func(x *house.Exchange) { x.Say(canary) })
	h.Finish(h.Must("POST", "/indexes/films/documents", `[{"id":"`+canary+`","title":"`+canary+`"}]`))
	h.Must("PATCH", "/chats/x/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q,"apiKey":"sk-%s","prompts":{"system":%q}}`, w.URL, canary, canary))

	for _, r := range [][3]string{
		{"POST", "/indexes/films/search", `{"q":"` + canary + `"}`},
		{"GET", "/indexes/films/search?q=" + canary, ""},
		{"GET", "/indexes/films/search?" + canary + "=1", ""},
		{"POST", "/indexes/films/search", `{"filter":"` + canary + ` = 1"}`},
		{"POST", "/indexes/films/search", `{"filter":"title = ` + canary + ` ("}`},
		{"POST", "/indexes/films/search", `{"` + canary + `":1}`},
		{"POST", "/indexes/films/facet-search", `{"facetName":"` + canary + `"}`},
		{"POST", "/multi-search", `{"queries":[{"indexUid":"films","q":"` + canary + `"},{"indexUid":"` + canary + `"}]}`},
		{"GET", "/indexes/films/documents/" + canary, ""},
		{"POST", "/indexes/films/documents", `[{"title":"` + canary + `"`},
		{"POST", "/indexes/films/documents", `[{"id":"` + canary + ` !"}]`},
		{"DELETE", "/indexes/films/documents/" + canary, ""},
		{"POST", "/indexes/films/documents/delete", `{"filter":"` + canary + `"}`},
		{"PATCH", "/indexes/films/settings", `{"` + canary + `":1}`},
		{"GET", "/keys/" + canary, ""},
		{"GET", "/" + canary, ""},
		{canary, "/" + canary, ""},
		{"PATCH", "/chats/x/settings", `{"source":"` + canary + `"}`},
		{"POST", "/chats/" + canary + "/chat/completions", `{"messages":[]}`},
	} {
		_ = h.Call(r[0], r[1], r[2])
	}
	for _, model := range []string{"searches", "breaks off", "refuses", "breaks", "talks nonsense", "no HTTP"} {
		body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}],"user":%q}`, model, canary, canary)
		_ = h.Call("POST", "/chats/x/chat/completions", body)
	}
	_ = raw(h, "GET /health HTTP/1.1\r\nHost: "+canary+"\r\nUser-Agent: "+canary+"\r\nAuthorization: Bearer "+canary+"\r\nX-Request-Id: <"+canary+">\r\nConnection: close\r\n\r\n")
	_ = raw(h, canary+"\r\n\r\n")
	h.Close()

	log := h.Log.String()
	if !strings.Contains(log, `"route":"/chats/:uid/chat/completions"`) || !strings.Contains(log, "met errors") {
		t.Error("the log has no lines of chats and their errors")
	}
	for line := range strings.Lines(log) {
		if strings.Contains(strings.ToLower(line), canary) {
			t.Errorf("a line of the log quotes somebody: %s", line)
		}
	}
}

// searchCanary is an event in which the model asks for a search.
var searchCanary = strings.Replace(searchCall, "waves", canary, 1)
