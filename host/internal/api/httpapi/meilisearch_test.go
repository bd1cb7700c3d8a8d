package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/feature"
)

// What clients of Meilisearch send since 1.30, beside what the suites in .ci/compat check.

func TestSkipCreation(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	const all = "/indexes/movies/documents"
	r.task(r.do("POST", all, `[{"id":1,"title":"Alien"},{"id":2,"title":"Heat"}]`))
	for _, tt := range []struct{ name, method, body, want string }{
		{"replaced", "POST", `[{"id":1,"year":1979},{"id":9,"new":true}]`, `[{"id":1,"year":1979},{"id":2,"title":"Heat"}]`},
		{"merged", "PUT", `[{"id":2,"year":1995},{"id":9,"new":true}]`, `[{"id":1,"year":1979},{"id":2,"title":"Heat","year":1995}]`},
		{"twice", "POST", `[{"id":9,"new":true},{"id":9,"new":true}]`, `[{"id":1,"year":1979},{"id":2,"title":"Heat","year":1995}]`},
	} {
		done := r.task(r.do(tt.method, all+"?skipCreation=true", tt.body))
		if got := string(done.Details); !strings.Contains(got, `"receivedDocuments":2`) {
			t.Errorf("%s: details %s", tt.name, got)
		}
		if got := r.do("GET", all, "").body; !strings.Contains(got, `"results":`+tt.want) {
			t.Errorf("%s: the index holds %s, want %s", tt.name, got, tt.want)
		}
	}
	if got := r.do("GET", "/indexes/movies/stats", "").body; strings.Contains(got, `"new"`) {
		t.Errorf("an attribute of documents that were left out is counted: %s", got)
	}
	if done := r.task(r.do("POST", "/indexes/fresh/documents?skipCreation=true", `[{"id":1}]`)); !strings.Contains(string(done.Details), `"indexedDocuments":0`) {
		t.Errorf("documents of an index that is not there: %s", done.Details)
	}
	if a := r.do("POST", all+"?skipCreation=maybe", `[{"id":1}]`); a.status != 400 || !strings.Contains(a.body, "`skipCreation` must be true or false") {
		t.Errorf("skipCreation=maybe is answered %d %s", a.status, a.body)
	}
}

func TestEmptyCSV(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	csv := []string{"Content-Type", "text/csv"}
	if done := r.task(r.do("POST", "/indexes/a/documents", "id,title\n", csv...)); done.Error != nil || !strings.Contains(string(done.Details), `"receivedDocuments":0`) {
		t.Errorf("a CSV of names alone: %+v, details %s", done.Error, done.Details)
	}
	if a := r.do("POST", "/indexes/a/documents", "", csv...); a.status != 400 || !strings.Contains(a.body, "missing_payload") {
		t.Errorf("an empty CSV is answered %d %s", a.status, a.body)
	}
}

func TestTaskDocuments(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{idle: true, features: []feature.Feature{feature.TaskDocuments}})
	long := `[{"id":1,"text":"` + strings.Repeat("x", 200_000) + `"},{"id":2}]` // is kept in a file
	for i, tt := range []struct{ body, kind, want string }{
		{`[{"id": 1}, {"id":2}]`, "application/json", `{"id": 1}` + "\n" + `{"id":2}` + "\n"},
		{"id,n:number\na,1\n", "text/csv", `{"id":"a","n":1}` + "\n"},
		{long, "application/json", long[1:200_019] + "\n" + `{"id":2}` + "\n"},
	} {
		if a := r.do("POST", "/indexes/a/documents", tt.body, "Content-Type", tt.kind); a.status != 202 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		a := r.do("GET", "/tasks/"+string(rune('0'+i))+"/documents", "")
		if a.status != 200 || a.body != tt.want || a.header.Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("documents of task %d: %d %s %.200q, want %.200q", i, a.status, a.header.Get("Content-Type"), a.body, tt.want)
		}
	}
	r.do("DELETE", "/indexes/a/documents/1", "")
	narrow := []string{"Authorization", "Bearer " + r.key([]string{"*"}, []string{"b"})}
	blind := []string{"Authorization", "Bearer " + r.key([]string{"tasks.get"}, []string{"*"})}
	r.play(t, []scenario{
		{name: "of other work", method: "GET", path: "/tasks/3/documents", status: 404, code: "task_file_not_found", contains: []string{"documentDeletion"}},
		{name: "not there", method: "GET", path: "/tasks/77/documents", status: 404, code: "task_not_found"},
		{name: "no number", method: "GET", path: "/tasks/x/documents", status: 400, code: "invalid_task_uids"},
		{name: "of an index not for the key", method: "GET", path: "/tasks/0/documents", header: narrow, status: 404, code: "task_not_found"},
		{name: "not for keys that read no documents", method: "GET", path: "/tasks/0/documents", header: blind, status: 403, code: "invalid_api_key"},
	})
	r.start()
	r.wait(3)
	r.play(t, []scenario{
		{name: "finished", method: "GET", path: "/tasks/0/documents", status: 404, code: "task_file_not_found", contains: []string{"finished"}},
		{name: "switch off", method: "PATCH", path: "/experimental-features", body: `{"getTaskDocumentsRoute":false}`, status: 200},
		{name: "off", method: "GET", path: "/tasks/0/documents", status: 400, code: "feature_not_enabled"},
	})
}

func TestStatsSizes(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	for _, tt := range []struct{ path, has, hasNot string }{
		{"/indexes/movies/stats", `"indexSize":`, "internal"},
		{"/indexes/movies/stats?sizeFormat=raw&showInternalDatabaseSizes=true", `"internalDatabaseSizes":{"documents":`, `B"`},
		{"/indexes/movies/stats?sizeFormat=human&showInternalDatabaseSizes=true", `B","index":"`, `Size":0`},
		{"/stats?sizeFormat=human", `"maxVectorMemory":"`, "internal"},
	} {
		a := r.do("GET", tt.path, "")
		if a.status != 200 || !strings.Contains(a.body, tt.has) || strings.Contains(a.body, tt.hasNot) {
			t.Errorf("%s: %d %s, want %s and not %s", tt.path, a.status, a.body, tt.has, tt.hasNot)
		}
	}
	if a := r.do("GET", "/stats?sizeFormat=", ""); a.status != 400 || !strings.Contains(a.body, "must be raw or human") {
		t.Errorf("sizeFormat= is answered %d %s", a.status, a.body)
	}
}

func TestSearchMetadata(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	type meta struct{ QueryUID, IndexUID, PrimaryKey string }
	ask := func(path, body string, header ...string) (one, list []meta) {
		t.Helper()
		a := r.do("POST", path, body, header...)
		var got struct {
			Metadata json.RawMessage
			Results  []struct{ Metadata *meta }
		}
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		var single meta
		if json.Unmarshal(got.Metadata, &single) == nil {
			one = append(one, single)
		}
		_ = json.Unmarshal(got.Metadata, &list)
		for _, res := range got.Results {
			if res.Metadata != nil {
				one = append(one, *res.Metadata)
			}
		}
		return one, list
	}
	header := []string{"Meili-Include-Metadata", "true"}
	const search, both = "/indexes/movies/search", `{"queries":[{"indexUid":"movies"},{"indexUid":"movies"}]}`
	want := func(name string, got []meta, n int) {
		t.Helper()
		for _, m := range got {
			if m.IndexUID != "movies" || m.PrimaryKey != "id" || m.QueryUID == "" {
				t.Errorf("%s: %+v", name, m)
			}
		}
		if len(got) != n {
			t.Errorf("%s: metadata of %d queries, want %d", name, len(got), n)
		}
	}
	one, _ := ask(search, `{}`, header...)
	want("a search", one, 1)
	one, _ = ask(search, `{}`)
	want("a search without the header", one, 0)
	one, _ = ask("/multi-search", both, header...)
	want("two searches", one, 2)
	_, list := ask("/multi-search", `{"federation":{},`+both[1:], header...)
	want("a federated search", list, 2)
}
