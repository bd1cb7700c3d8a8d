package main

import (
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// mostSwaps is the end of a range in manifest.json.
const mostSwaps = 1 << 31

// window is what was asked of documents and indexes.
type window struct {
	payloads collector.Handles
	key      event.Handle // the primary key that was named last

	written, created event.Flag // documents; an index by that

	swapped event.Flag
	swaps   collector.Sum

	named                          event.Flag // documents, in one of these ways
	byID, byFilter, byBatch, byAll event.Flag
}

func (w *window) Observe(e collector.Event) {
	switch e.Kind() {
	case event.KindDocuments:
		w.documents(e.Documents())
	case event.KindIndex:
		i := e.Index()
		collector.Keep(&w.key, i.PrimaryKey)
		if i.Operation == event.IndexSwap {
			w.swapped = 1
			w.swaps.Add(uint64(i.Swaps))
		}
	}
}

func (w *window) documents(d *event.Documents) {
	collector.Keep(&w.key, d.PrimaryKey)
	switch d.Operation {
	case event.DocumentsReplace, event.DocumentsUpdate:
		w.written = 1
		w.created |= d.IndexCreated
		w.payloads.Add(d.PayloadType)
		return
	case event.DocumentsDelete:
		w.byID = 1
	case event.DocumentsList, event.DocumentsFetch, event.DocumentsDeleteByFilter:
		w.byFilter = 1
	case event.DocumentsDeleteBatch:
		w.byBatch = 1
	case event.DocumentsClear:
		w.byAll = 1
	default:
		return
	}
	w.named = 1
}

func (w *window) Flush(m *collector.Metrics) {
	m.Handles(metricPayloadTypes, &w.payloads)
	m.Handle(metricPrimaryKey, w.key)
	if w.written != 0 {
		m.Flag(metricIndexCreation, w.created)
	}
	if w.swapped != 0 {
		m.UpTo(metricSwaps, uint64(w.swaps), mostSwaps)
	}
	if w.named == 0 {
		return
	}
	m.Flag(metricPerDocumentID, w.byID)
	m.Flag(metricPerFilter, w.byFilter)
	m.Flag(metricClearAll, w.byAll)
	m.Flag(metricPerBatch, w.byBatch)
}
