package write

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/task"
)

// TestTasks makes the task of each change: what it says to clients, and what it keeps for its turn.
func TestTasks(t *testing.T) {
	long := strings.Repeat("a", 401)
	for _, tt := range []struct {
		name    string
		task    func() (task.New, error)
		kind    task.Type
		details string
		code    string
	}{
		{"create", func() (task.New, error) { return CreateIndex("books", "") }, task.IndexCreation, `{"primaryKey":null}`, ""},
		{"update", func() (task.New, error) { return UpdateIndex("books", "isbn", "books") }, task.IndexUpdate, `{"primaryKey":"isbn"}`, ""},
		{"rename", func() (task.New, error) { return UpdateIndex("books", "", "novels") }, task.IndexUpdate, `{"newIndexUid":"novels","oldIndexUid":"books","primaryKey":null}`, ""},
		{"rename badly", func() (task.New, error) { return UpdateIndex("books", "", "a b") }, "", "", "invalid_index_uid"},
		{"bad uid", func() (task.New, error) { return CreateIndex("a b", "") }, "", "", "invalid_index_uid"},
		{"long uid", func() (task.New, error) { return DeleteIndex(long) }, "", "", "invalid_index_uid"},
		{"bad key", func() (task.New, error) { return CreateIndex("books", "\xff") }, "", "", "invalid_index_primary_key"},
		{"delete some", func() (task.New, error) { return DeleteDocuments("books", []string{"a", "b"}) }, task.DocumentDeletion, `{"deletedDocuments":null,"originalFilter":null,"providedIds":2}`, ""},
		{"bad id", func() (task.New, error) { return DeleteDocuments("books", []string{"a", "b c"}) }, "", "", "invalid_document_id"},
		{"delete by filter", func() (task.New, error) { return (&Writer{}).DeleteByFilter("books", []byte(`[ "year > 3" ]`)) }, task.DocumentDeletion, `{"deletedDocuments":null,"originalFilter":"[\"year \u003e 3\"]","providedIds":0}`, ""},
		{"empty filter", func() (task.New, error) { return (&Writer{}).DeleteByFilter("books", []byte(`""`)) }, "", "", "invalid_document_filter"},
		{"add", func() (task.New, error) { return AddDocuments("books", "", false, []byte(`[{"id":1},{"id":2}]`)) }, task.DocumentAddition, `{"indexedDocuments":null,"receivedDocuments":2}`, ""},
		{"no JSON", func() (task.New, error) { return AddDocuments("books", "", false, []byte(`[{"id":1}`)) }, "", "", "malformed_payload"},
		{"swap", func() (task.New, error) { return SwapIndexes([]Swap{{Indexes: [2]string{"a", "b"}}}) }, task.IndexSwap, `{"swaps":[{"indexes":["a","b"],"rename":false}]}`, ""},
		{"swap twice", func() (task.New, error) {
			return SwapIndexes([]Swap{{Indexes: [2]string{"a", "b"}}, {Indexes: [2]string{"b", "c"}}})
		}, "", "", "invalid_swap_duplicate_index_found"},
		{"swap of nothing", func() (task.New, error) { return SwapIndexes([]Swap{{Indexes: [2]string{"a", ""}}}) }, "", "", "invalid_swap_indexes"},
	} {
		got, err := tt.task()
		if code := apierr.From(err); tt.code != "" {
			if err == nil || code.Code.String() != tt.code {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.code)
			}
			continue
		}
		if err != nil || got.Type != tt.kind || string(got.Details) != tt.details {
			t.Errorf("%s: %s with %s, %v; want %s with %s", tt.name, got.Type, got.Details, err, tt.kind, tt.details)
		}
		if _, _, err := decodePayload(got.Payload); err != nil {
			t.Errorf("%s: its payload: %v", tt.name, err)
		}
	}
}

// TestPayload gives back head and body, and an outcome as it was.
func TestPayload(t *testing.T) {
	in := payload{PrimaryKey: "k\n", Partial: true, Format: ingest.CSV, Delimiter: ';'}
	got, body, err := decodePayload(in.encode([]byte("a;b\n1;2\n")))
	if err != nil || got.PrimaryKey != in.PrimaryKey || !got.Partial || got.Format != in.Format || got.Delimiter != ';' || string(body) != "a;b\n1;2\n" {
		t.Errorf("payload %+v with body %q, %v; want %+v", got, body, err, in)
	}
	if _, _, err := decodePayload([]byte("{")); err == nil {
		t.Error("half a payload is taken")
	}
	if n := receivedDocuments(json.RawMessage(`{"receivedDocuments":7}`)); n != 7 {
		t.Errorf("received %d documents, want 7", n)
	}
	if n := keptVectors([]byte("short")); n != 0 {
		t.Errorf("a record without a head has %d vectors", n)
	}
}
