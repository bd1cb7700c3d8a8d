package request

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// A page of documents, as a search answers it.
type page struct {
	Hits  []json.RawMessage `json:"hits"`
	Query string            `json:"query"`
	Total *int              `json:"total"`
}

// documents are so many of some 2.8 kB.
func documents(count int) []json.RawMessage {
	docs := make([]json.RawMessage, count)
	for i := range docs {
		docs[i] = Encode(map[string]any{"id": i, "none": nil, "text": strings.Repeat(`a "word", `, 230)})
	}
	return docs
}

// answerWith is what a client gets that accepts encoding, of docs and v.
func answerWith(t testing.TB, encoding string, docs []json.RawMessage, v any, more ...Member) []byte {
	app := fiber.New()
	ctx := &fasthttp.RequestCtx{}
	ctx.Request.Header.Set(fiber.HeaderAcceptEncoding, encoding)
	c := app.AcquireCtx(ctx)
	defer app.ReleaseCtx(c)
	d := (&Call{Ctx: c}).NewDocuments(`{"hits":[`)
	for _, doc := range docs {
		d.Add(doc, more...)
	}
	if err := d.CloseList(v); err != nil {
		t.Fatal(err)
	}
	if err := d.End(); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(c.Response().Body())
}

// TestDocuments: the body is the one that encoding/json writes.
func TestDocuments(t *testing.T) {
	for _, count := range []int{0, 1, 20} {
		docs := documents(count)
		var want bytes.Buffer
		if err := write(&want, page{Hits: docs, Query: `null <b> & "c"`}); err != nil {
			t.Fatal(err)
		}
		if got := answerWith(t, "", docs, page{Query: `null <b> & "c"`}); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%d documents: %.300s\nwant %.300s", count, got, want.String())
		}
	}
	docs := []json.RawMessage{json.RawMessage(`{}`), json.RawMessage("{ \n}"), json.RawMessage(`{"a":{}}`)}
	got := answerWith(t, "", docs, page{}, Member{"_x", []byte(`1`)}, Member{"_y", []byte(`{"b":2}`)})
	if want := `{"hits":[{"_x":1,"_y":{"b":2}},{"_x":1,"_y":{"b":2}},{"a":{},"_x":1,"_y":{"b":2}}],"query":"","total":null}` + "\n"; string(got) != want {
		t.Errorf("with members = %s, want %s", got, want)
	}
}

func BenchmarkDocuments(b *testing.B) {
	docs := documents(10)
	for _, encoding := range []string{"", "gzip", "br"} {
		b.Run("encoding="+encoding, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				answerWith(b, encoding, docs, page{Query: "words"})
			}
		})
	}
}
