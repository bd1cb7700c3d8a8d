package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// all returns the documents of an index, by id.
func (r *rig) all(uid string) []json.RawMessage {
	r.tb.Helper()
	p, err := listDocuments(r.svc, context.Background(), auth.Everyone(), uid, search.DocumentsQuery{Limit: limit(100_000)})
	if err != nil {
		r.tb.Fatal(err)
	}
	if p.Total != len(p.Documents) {
		r.tb.Errorf("index %s counts %d documents and has %d", uid, p.Total, len(p.Documents))
	}
	return p.Documents
}

// document returns one document.
func (r *rig) document(uid, id string) string {
	r.tb.Helper()
	b, err := r.svc.Document(context.Background(), auth.Everyone(), uid, id, nil, false)
	if err != nil {
		r.tb.Fatal(err)
	}
	return string(b)
}

func TestDocumentsAddedReplacedMerged(t *testing.T) {
	r := newRig(t)
	done := r.ok(write.AddDocuments("a", "", false, []byte(`[{"id":1,"x":"one","y":2},{"id":"two","x":"zwei"}]`)))
	if got, want := string(done.Details), `{"indexedDocuments":2,"receivedDocuments":2}`; got != want {
		t.Errorf("details %s, want %s", got, want)
	}
	r.ok(write.AddDocuments("a", "", false, []byte(`{"id":1,"x":"uno"}`)))
	if got, want := r.document("a", "1"), `{"id":1,"x":"uno"}`; got != want {
		t.Errorf("replaced document %s, want %s", got, want)
	}
	r.ok(write.AddDocuments("a", "", true, []byte(`[{"id":1,"y":{"z":[1, 2]}},{"id":3,"x":"drei"},{"id":3,"y":null}]`)))
	if got, want := r.document("a", "1"), `{"id":1,"x":"uno","y":{"z":[1,2]}}`; got != want {
		t.Errorf("merged document %s, want %s", got, want)
	}
	if got, want := r.document("a", "3"), `{"id":3,"x":"drei","y":null}`; got != want {
		t.Errorf("document merged with one of the same task %s, want %s", got, want)
	}
	for q, want := range map[string]string{"one": "", "uno": "1", "zwei": "two", "drei": "3"} {
		if got := r.ids("a", search.Query{Q: q}); got != want {
			t.Errorf("search %s found %q, want %q", q, got, want)
		}
	}
	st, err := r.svc.Stats(auth.Everyone(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"id": 3, "x": 3, "y": 1, "y.z": 1}; st.NumberOfDocuments != 3 || fmt.Sprint(st.FieldDistribution) != fmt.Sprint(want) {
		t.Errorf("stats %+v, want 3 documents, fields %v", st, want)
	}
}

func TestDocumentsDeleted(t *testing.T) {
	r := newRig(t)
	r.add("a", docsJSON(1, 10, func(i int) string { return fmt.Sprintf(`"x":"word%d all"`, i) }))
	done := r.ok(write.DeleteDocuments("a", []string{"3", "4", "99"}))
	if got, want := string(done.Details), `{"deletedDocuments":2,"originalFilter":null,"providedIds":3}`; got != want {
		t.Errorf("details %s, want %s", got, want)
	}
	if got, want := r.ids("a", search.Query{Q: "all"}), "1 2 5 6 7 8 9 10"; got != want {
		t.Errorf("after deletion found %q, want %q", got, want)
	}
	done = r.ok(write.DeleteAllDocuments("a"))
	if got, want := string(done.Details), `{"deletedDocuments":8,"originalFilter":null,"providedIds":0}`; got != want {
		t.Errorf("details %s, want %s", got, want)
	}
	if got := r.ids("a", search.Query{}); got != "" || len(r.all("a")) != 0 {
		t.Errorf("after deletion of all found %q and %d documents", got, len(r.all("a")))
	}
	failed := r.run(write.DeleteDocuments("nope", []string{"1"}))
	if failed.Status != task.Failed || failed.Error.Code != indexerr.IndexNotFound.String() {
		t.Errorf("deletion from no index: %s, %+v", failed.Status, failed.Error)
	}
}

func TestBadDocumentFailsWholeTask(t *testing.T) {
	r := newRig(t)
	r.add("a", `{"id":1,"x":"kept"}`)
	long := strings.Repeat("a", 512)
	tests := []struct {
		name, body string
		code       apierr.Code
		says       string
	}{
		{"no id", "[{\"id\":5},\n{\"x\":1}]", indexerr.MissingDocumentID, "Document 2, at line 2 of the payload: it has no primary key `id`"},
		{"id with a space", `[{"id":"a b"}]`, indexerr.InvalidDocumentID, "`a b` is not valid"},
		{"id of 512 bytes", `[{"id":"` + long + `"}]`, indexerr.InvalidDocumentID, "is not valid"},
		{"empty id", `[{"id":""}]`, indexerr.InvalidDocumentID, "is not valid"},
		{"id not ASCII", `[{"id":"é"}]`, indexerr.InvalidDocumentID, "is not valid"},
		{"fraction", `[{"id":1.5}]`, indexerr.InvalidDocumentID, "is a fraction"},
		{"null id", `[{"id":null}]`, indexerr.InvalidDocumentID, "its id is null"},
		{"object id", `[{"id":{}}]`, indexerr.InvalidDocumentID, "its id is an object"},
		{"no object", "[{\"id\":7},\n\n 7]", apierr.MalformedPayload, "Document 2, at line 3 of the payload: it is a number"},
		{"nested deep", `[{"id":8,"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}]`, apierr.MalformedPayload, "nested deeper than 100"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			done := r.run(write.AddDocuments("a", "", false, []byte(tt.body)))
			if done.Status != task.Failed || done.Error.Code != tt.code.String() || !strings.Contains(done.Error.Message, tt.says) {
				t.Errorf("status %s, error %+v; want %s saying %q", done.Status, done.Error, tt.code, tt.says)
			}
			if got := r.all("a"); len(got) != 1 || string(got[0]) != `{"id":1,"x":"kept"}` {
				t.Errorf("documents after it: %s", got)
			}
		})
	}
	r.add("a", `{"id":"`+long[:511]+`"}`)
	done := r.run(write.AddDocuments("b", "", false, []byte(`[{"x":1}]`)))
	if done.Status != task.Failed {
		t.Errorf("documents without a key: status %s", done.Status)
	}
	if _, err := r.svc.Index(auth.Everyone(), "b"); !apierr.Is(err, indexerr.IndexNotFound) {
		t.Errorf("index that a failed task was to make: error %v", err)
	}
}

// TestPlaces wants `_geo` to be a place where places can be asked for, and
// anything elsewhere.
func TestPlaces(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"sortableAttributes":["_geo"]}`)
	r.settings("f", `{"filterableAttributes":["_geo"]}`)
	for geo, says := range map[string]string{
		`null`: "", `{"lat":-90,"lng":180}`: "", `{"lng":1e1,"lat":0.5,"of":"a pole"}`: "",
		`"1,2"`: "its `_geo` is a string; expected {\"lat\"", `[1,2]`: "its `_geo` is an array", `{"lat":1}`: "its `_geo` has no `lng`", `{}`: "has no `lat`",
		`{"lat":91,"lng":0}`: "its `_geo.lat` is 91; expected", `{"lat":0,"lng":-180.5}`: "its `_geo.lng` is -180.5", `{"lat":"1","lng":" -2.5 "}`: "", `{"lat":"north","lng":2}`: "its `_geo.lat` is \"north\"", `{"lat":"","lng":2}`: "its `_geo.lat` is \"\"", `{"lat":1,"lng":"181"}`: "its `_geo.lng` is \"181\"", `{"lat":0,"lng":1e400}`: "its `_geo.lng` is 1e400",
	} {
		for _, uid := range []string{"a", "f", "free"} {
			done := r.run(write.AddDocuments(uid, "", false, []byte(`[{"id":1},{"id":2,"_geo":`+geo+`}]`)))
			switch {
			case says == "" || uid == "free":
				if done.Status != task.Succeeded {
					t.Errorf("%s in index %s: %+v, want it taken", geo, uid, done.Error)
				}
			case done.Error == nil || done.Error.Code != indexerr.InvalidDocumentGeoField.String() || !strings.Contains(done.Error.Message, says) || !strings.Contains(done.Error.Message, "Document 2"):
				t.Errorf("%s in index %s: %+v, want %s saying %q", geo, uid, done.Error, indexerr.InvalidDocumentGeoField, says)
			}
		}
	}
}

// TestPlacesWritten finds a place however it was written, by filter and by sort,
// and refuses a wrong one in each of these forms.
func TestPlacesWritten(t *testing.T) {
	for name, c := range map[string]struct {
		format  ingest.BodyFormat
		body    string
		bad     string // one more line
		badSays string
	}{
		"JSON with texts": {ingest.NDJSON, `{"id":1,"_geo":{"lat":"48.85","lng":"2.35"}}` + "\n" + `{"id":2,"_geo":{"lat":"51.5","lng":-0.12}}` + "\n" + `{"id":3,"_geo":null}`, `{"id":4,"_geo":{"lat":"x","lng":1}}`, "_geo.lat"},
		"a column":        {ingest.CSV, "id:number,_geo:string\n1,\"48.85,2.35\"\n2,\" 51.5, -0.12\"\n3,", "4,\"48.85\"", "`_geo` is a string"},
		"two columns":     {ingest.CSV, "id:number,_geo.lat:number,_geo.lng:number\n1,48.85,2.35\n2,51.5,-0.12\n3,,", "4,91,1", "`_geo.lat` is 91"},
		"two of texts":    {ingest.CSV, "id:number,_geo.lat,_geo.lng\n1,48.85,2.35\n2,51.5,-0.12\n3,,", "4,1,", "no `lng`"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.settings("a", `{"filterableAttributes":["_geo"],"sortableAttributes":["_geo"]}`)
			read := func(body string) task.Task {
				t.Helper()
				return r.run(r.svc.ReadDocuments("a", write.Incoming{Format: c.format}, strings.NewReader(body)))
			}
			if done := read(c.body); done.Status != task.Succeeded {
				t.Fatalf("%s: %+v", done.Status, done.Error)
			}
			if got := r.ids("a", search.Query{Filter: filter("_geoRadius(48.8, 2.3, 20000)")}); got != "1" {
				t.Errorf("near Paris: %q, want 1", got)
			}
			if got := r.ids("a", search.Query{Filter: filter("'_geo' EXISTS OR _geo.lat EXISTS"), Sort: []string{"_geoPoint(51, 0):asc"}, Limit: limit(2)}); got != "2 1" {
				t.Errorf("by the way to London: %q, want 2 1", got)
			}
			if done := read(c.body + "\n" + c.bad); done.Error == nil || done.Error.Code != indexerr.InvalidDocumentGeoField.String() || !strings.Contains(done.Error.Message, c.badSays) {
				t.Errorf("a wrong place: %+v, want %q", done.Error, c.badSays)
			}
		})
	}
}

func TestPayloadRefusedAtOnce(t *testing.T) {
	tests := []struct {
		name, body string
		code       apierr.Code
		says       string
	}{
		{"empty", " ", apierr.MissingPayload, "empty"},
		{"cut off", "[{\"id\":1},\n{\"id\"", apierr.MalformedPayload, "line 2"},
		{"no array", `"x"`, apierr.MalformedPayload, "a string"},
		{"invalid UTF-8", "[{\"id\":1,\n\"x\":\"a\xff\"}]", apierr.MalformedPayload, "not UTF-8, at line 2, column 7"},
	}
	for _, tt := range tests {
		_, err := write.AddDocuments("a", "", false, []byte(tt.body))
		wantCode(t, tt.name, err, tt.code)
		if !strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("%s: %v does not say %q", tt.name, err, tt.says)
		}
	}
	_, err := write.AddDocuments("a b", "", false, []byte(`[]`))
	wantCode(t, "uid with a space", err, indexerr.InvalidIndexUID)
	_, err = write.CreateIndex(strings.Repeat("x", 401), "")
	wantCode(t, "uid of 401 bytes", err, indexerr.InvalidIndexUID)
	_, err = write.DeleteDocuments("a", []string{"a/b"})
	wantCode(t, "id with a slash", err, indexerr.InvalidDocumentID)
}

func TestPrimaryKey(t *testing.T) {
	tests := []struct {
		name, key, body, want string
		code                  apierr.Code
	}{
		{name: "named id", body: `{"id":1,"bookId":2}`, want: "id"},
		{name: "ends in id", body: `{"title":"x","bookID":2}`, want: "bookID"},
		{name: "given", key: "isbn", body: `{"isbn":"1-2","id":2}`, want: "isbn"},
		{name: "none", body: `{"title":"x"}`, code: indexerr.IndexPrimaryKeyNoCandidate},
		{name: "id in two ways", body: `{"id":1,"_id":2}`, code: indexerr.IndexPrimaryKeyMultipleCandidate},
		{name: "several", body: `{"authorId":1,"bookId":2}`, code: indexerr.IndexPrimaryKeyMultipleCandidate},
	}
	r := newRig(t)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			uid := fmt.Sprint("x", i)
			done := r.run(write.AddDocuments(uid, tt.key, false, []byte(tt.body)))
			if tt.code != (apierr.Code{}) {
				if done.Error == nil || done.Error.Code != tt.code.String() {
					t.Errorf("error %+v, want %s", done.Error, tt.code)
				}
				return
			}
			info, err := r.svc.Index(auth.Everyone(), uid)
			if err != nil || info.PrimaryKey != tt.want {
				t.Errorf("primary key %q, %v; want %q", info.PrimaryKey, err, tt.want)
			}
			done = r.run(write.AddDocuments(uid, "other", false, []byte(`{"other":1}`)))
			if done.Error == nil || done.Error.Code != indexerr.IndexPrimaryKeyAlreadyExists.String() {
				t.Errorf("documents with another key: error %+v", done.Error)
			}
		})
	}
}

func TestIndexLifecycle(t *testing.T) {
	r := newRig(t)
	r.ok(write.CreateIndex("a", "key"))
	if done := r.run(write.CreateIndex("a", "")); done.Error == nil || done.Error.Code != indexerr.IndexAlreadyExists.String() {
		t.Errorf("second creation: error %+v", done.Error)
	}
	r.ok(write.UpdateIndex("a", "no", "a"))
	r.add("a", `{"no":1,"x":"old"}`)
	if done := r.run(write.UpdateIndex("a", "x", "a")); done.Error == nil || done.Error.Code != indexerr.IndexPrimaryKeyAlreadyExists.String() {
		t.Errorf("another key for an index with documents: error %+v", done.Error)
	}
	done := r.ok(write.DeleteIndex("a"))
	if got, want := string(done.Details), `{"deletedDocuments":1}`; got != want {
		t.Errorf("details %s, want %s", got, want)
	}
	if _, err := r.svc.Search(context.Background(), auth.Everyone(), "a", search.Query{}); !apierr.Is(err, indexerr.IndexNotFound) {
		t.Errorf("search after deletion: %v", err)
	}
	r.add("a", `{"id":1,"x":"new"}`)
	if got := r.all("a"); len(got) != 1 || string(got[0]) != `{"id":1,"x":"new"}` {
		t.Errorf("documents of the new index: %s", got)
	}
	if list, total := r.svc.Indexes(auth.Everyone(), 0, 20); total != 1 || list[0].UID != "a" || list[0].PrimaryKey != "id" {
		t.Errorf("Indexes = %+v, %d", list, total)
	}
}

// TestBatchEqualsOneByOne applies the same tasks joined and one by one.
func TestBatchEqualsOneByOne(t *testing.T) {
	steps := func() []func() (task.New, error) {
		add := func(partial bool, body string) func() (task.New, error) {
			return func() (task.New, error) { return write.AddDocuments("a", "", partial, []byte(body)) }
		}
		del := func(ids ...string) func() (task.New, error) {
			return func() (task.New, error) { return write.DeleteDocuments("a", ids) }
		}
		return []func() (task.New, error){
			add(false, `[{"id":1,"x":"a"},{"id":2,"x":"b"},{"id":3,"x":"c"}]`),
			add(true, `[{"id":1,"y":1},{"id":4,"y":2}]`),
			del("2", "9"),
			add(false, `[{"id":5},{"x":1}]`), // fails
			add(true, `[{"id":2,"y":"again"}]`),
			func() (task.New, error) { return write.DeleteAllDocuments("a") },
			add(false, `[{"id":7,"x":"seven"},{"id":1,"x":"one"}]`),
			del("7"),
			add(true, `[{"id":1,"z":"more"},{"id":8,"x":"eight"}]`),
		}
	}
	results := map[string]string{}
	for _, way := range []string{"joined", "one by one"} {
		r := newRig(t)
		r.add("a", `[{"id":1,"old":true},{"id":6,"old":true}]`)
		var uids []uint32
		if way == "joined" {
			r.stop() // so that they wait for each other
		}
		for _, f := range steps() {
			n, err := f()
			if err != nil {
				t.Fatal(err)
			}
			sum, err := r.queue.Enqueue(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			uids = append(uids, sum.TaskUID)
			if way == "one by one" {
				if _, err := r.queue.Wait(t.Context(), sum.TaskUID); err != nil {
					t.Fatal(err)
				}
			}
		}
		if way == "joined" {
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() { defer close(done); _ = r.queue.Run(ctx) }()
			r.stop = func() { cancel(); <-done }
		}
		var out strings.Builder
		for _, uid := range uids {
			tk, err := r.queue.Wait(t.Context(), uid)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s %s\n", tk.Status, tk.Details)
		}
		fmt.Fprintf(&out, "%s\n%s\n%s", r.all("a"), r.ids("a", search.Query{}), r.ids("a", search.Query{Q: "more"}))
		results[way] = out.String()
	}
	if results["joined"] != results["one by one"] {
		t.Errorf("joined:\n%s\none by one:\n%s", results["joined"], results["one by one"])
	}
}

// TestDocumentsInOrder wants listings, and equal hits, in the order in which the
// documents came first.
func TestDocumentsInOrder(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["x"],"sortableAttributes":["x"]}`)
	r.add("a", `[{"id":"b","x":"w"},{"id":"10","x":"w"},{"id":"a","x":"w"},{"id":"9","x":"v"}]`)
	r.add("a", `[{"id":"0","x":"w"},{"id":"10","x":"w","y":1},{"id":"c","x":"w"}]`)
	r.ok(write.DeleteDocuments("a", []string{"a"}))
	r.add("a", `{"id":"a","x":"w"}`)
	for name, tt := range map[string]struct {
		q    search.DocumentsQuery
		want string
	}{
		"all":         {search.DocumentsQuery{}, "b 10 9 0 c a"},
		"a page":      {search.DocumentsQuery{Offset: 2, Limit: limit(3)}, "9 0 c"},
		"the end":     {search.DocumentsQuery{Offset: 5, Limit: limit(3)}, "a"},
		"beyond":      {search.DocumentsQuery{Offset: 6}, ""},
		"none":        {search.DocumentsQuery{Limit: limit(0)}, ""},
		"by a filter": {search.DocumentsQuery{Filter: filter("x = w"), Offset: 1, Limit: limit(3)}, "10 0 c"},
		"by ids":      {search.DocumentsQuery{IDs: []string{"a", "0", "b", "0"}}, "b 0 a"},
		"sorted":      {search.DocumentsQuery{Sort: []string{"x:asc"}}, "9 b 10 0 c a"},
	} {
		page, err := listDocuments(r.svc, t.Context(), auth.Everyone(), "a", tt.q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, d := range page.Documents {
			var doc struct{ ID string }
			if err := json.Unmarshal(d, &doc); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, doc.ID)
		}
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if got := r.ids("a", search.Query{Q: "w"}); got != "b 10 0 c a" {
		t.Errorf("equal hits %q, want b 10 0 c a", got)
	}
}

// A countingDB counts the documents that a scan hands out.
type countingDB struct {
	*store.Store
	scanned *atomic.Int64
}

func (d countingDB) Scan(ctx context.Context, docs string, f func(storage.Document) error) error {
	return d.Store.Scan(ctx, docs, func(doc storage.Document) error {
		d.scanned.Add(1)
		return f(doc)
	})
}

// TestDocumentsByFilter wants a page of the documents that a filter lets through to be
// found without reading the others: an import lists what it sent before, page by page.
func TestDocumentsByFilter(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["x","n"]}`)
	var docs []string
	for i := range 300 {
		docs = append(docs, fmt.Sprintf(`{"id":%d,"x":"%c","n":%d}`, i, 'a'+i%3, i))
	}
	r.add("a", "["+strings.Join(docs, ",")+"]")
	r.close()
	var scanned atomic.Int64
	r.wrap = func(s *store.Store) storage.DB { return countingDB{s, &scanned} }
	r.open()
	page, err := listDocuments(r.svc, t.Context(), auth.Everyone(), "a", search.DocumentsQuery{Filter: filter("x = b AND n >= 4"), Offset: 10, Limit: limit(5)})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%s", page.Documents), `[{"id":34,"x":"b","n":34} {"id":37,"x":"b","n":37} {"id":40,"x":"b","n":40} {"id":43,"x":"b","n":43} {"id":46,"x":"b","n":46}]`; got != want || page.Total != 99 || scanned.Load() > 0 {
		t.Errorf("a page %s of %d, after %d documents were read, want %s of 99 and none", got, page.Total, scanned.Load(), want)
	}
}

// A listed page has its documents.
type listed struct {
	search.DocumentsPage
	Documents []json.RawMessage
}

// listDocuments is [search.Service.Documents] with its documents in a list.
func listDocuments(s *search.Service, ctx context.Context, caller *auth.Caller, uid string, q search.DocumentsQuery) (p listed, err error) {
	q.Show = func(doc []byte) error {
		p.Documents = append(p.Documents, bytes.Clone(doc))
		return nil
	}
	p.DocumentsPage, err = s.Documents(ctx, caller, uid, q)
	return p, err
}

// TestNewerTask: a task that asks for something which this version does not know, since a newer
// one took it, fails and is not applied in part. The tasks beside it are.
func TestNewerTask(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1}]`)
	for name, n := range map[string]func() (task.New, error){
		"documents": func() (task.New, error) { return write.AddDocuments("a", "", false, []byte(`[{"id":2}]`)) },
		"an index":  func() (task.New, error) { return write.UpdateIndex("a", "", "b") },
		"settings":  func() (task.New, error) { return r.svc.UpdateSettings("a", []byte(`{"stopWords":["x"]}`)) },
	} {
		asked, err := n()
		asked.Payload = bytes.Replace(asked.Payload, []byte("{"), []byte(`{"Later":true,`), 1)
		asked.Payload = bytes.Replace(asked.Payload, []byte(",}"), []byte("}"), 1) // of an empty head
		if got := r.run(asked, err); got.Status != task.Failed || !strings.Contains(got.Error.Message, "newer version") {
			t.Errorf("%s of a newer version: %s, %+v", name, got.Status, got.Error)
		}
	}
	r.add("a", `[{"id":3}]`)
	if st, err := r.svc.Stats(auth.Everyone(), "a"); err != nil || st.NumberOfDocuments != 2 {
		t.Errorf("the index: %+v, %v; want the two documents of this version's tasks", st, err)
	}
}
