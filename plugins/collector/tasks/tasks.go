package main

import (
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// window is what was asked of the tasks routes.
type window struct {
	asked event.Flag // at all
	byUID event.Flag // for one task
	given event.Tasks
}

// Observe joins the requests to one that gives whatever some of them gave.
func (w *window) Observe(e collector.Event) {
	t := e.Tasks()
	if t == nil {
		return
	}
	w.asked = 1
	if t.Operation == event.TasksGet {
		w.byUID = 1
	}
	g := &w.given
	g.UIDs |= t.UIDs
	g.IndexUIDs |= t.IndexUIDs
	g.Types |= t.Types
	g.Statuses |= t.Statuses
	g.CanceledBy |= t.CanceledBy
	g.BeforeEnqueuedAt |= t.BeforeEnqueuedAt
	g.AfterEnqueuedAt |= t.AfterEnqueuedAt
	g.BeforeStartedAt |= t.BeforeStartedAt
	g.AfterStartedAt |= t.AfterStartedAt
	g.BeforeFinishedAt |= t.BeforeFinishedAt
	g.AfterFinishedAt |= t.AfterFinishedAt
}

func (w *window) Flush(m *collector.Metrics) {
	if w.asked == 0 {
		return
	}
	g := &w.given
	m.Flag(metricPerTaskUID, w.byUID)
	m.Flag(metricByUID, g.UIDs)
	m.Flag(metricByIndexUID, g.IndexUIDs)
	m.Flag(metricByType, g.Types)
	m.Flag(metricByStatus, g.Statuses)
	m.Flag(metricByCanceledBy, g.CanceledBy)
	m.Flag(metricBeforeEnqueued, g.BeforeEnqueuedAt)
	m.Flag(metricAfterEnqueued, g.AfterEnqueuedAt)
	m.Flag(metricBeforeStarted, g.BeforeStartedAt)
	m.Flag(metricAfterStarted, g.AfterStartedAt)
	m.Flag(metricBeforeFinished, g.BeforeFinishedAt)
	m.Flag(metricAfterFinished, g.AfterFinishedAt)
}
