package main

import (
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/plugintest"
)

// named returns the rule of a metric about requests that name documents: those
// of the routes are yes, the others of the kind no.
func named(yes ...event.DocumentsOperation) plugintest.Rule {
	return func(e any) any {
		d, ok := e.(event.Documents)
		if !ok {
			return nil
		}
		for _, o := range yes {
			if d.Operation == o {
				return true
			}
		}
		switch d.Operation {
		case event.DocumentsDelete, event.DocumentsClear, event.DocumentsDeleteBatch, event.DocumentsDeleteByFilter, event.DocumentsList, event.DocumentsFetch:
			return false
		}
		return nil
	}
}

// written returns rule for additions and updates alone.
func written(rule plugintest.Rule) plugintest.Rule {
	return func(e any) any {
		if d, ok := e.(event.Documents); ok && (d.Operation == event.DocumentsReplace || d.Operation == event.DocumentsUpdate) {
			return rule(e)
		}
		return nil
	}
}

func TestReference(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	d.Compare(plugintest.Reference{
		"payload_type":   written(d.Says("Documents.PayloadType")),
		"primary_key":    d.Says("Documents.PrimaryKey", "Index.PrimaryKey"),
		"index_creation": written(d.Says("Documents.IndexCreated")),
		"swap_operation_number": func(e any) any {
			if i, ok := e.(event.Index); ok && i.Operation == event.IndexSwap {
				return uint64(i.Swaps)
			}
			return nil
		},
		"per_document_id": named(event.DocumentsDelete),
		"per_filter":      named(event.DocumentsDeleteByFilter, event.DocumentsList, event.DocumentsFetch),
		"clear_all":       named(event.DocumentsClear),
		"per_batch":       named(event.DocumentsDeleteBatch),
	})
}

func TestDocuments(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	json := d.Handle(event.VocabularyMediaType, "application/json")
	plugintest.Emit(d, event.Documents{Operation: event.DocumentsReplace, PayloadType: json, PrimaryKey: d.Handle(event.VocabularyAttribute, "sku")})
	plugintest.Emit(d, event.Documents{Operation: event.DocumentsUpdate, PayloadType: json})
	got := d.End()
	if got["primary_key"] != "sku" || got["index_creation"] != false {
		t.Errorf("metrics = %v, want the key sku, which the request after it did not name, and no index", got)
	}
	if _, ok := got["per_filter"]; ok {
		t.Errorf("metrics = %v, want nothing of how documents were named", got)
	}
}
