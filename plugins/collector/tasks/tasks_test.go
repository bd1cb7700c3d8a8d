package main

import (
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestReference(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	d.Compare(plugintest.Reference{
		"per_task_uid":                   func(e any) any { return e.(event.Tasks).Operation == event.TasksGet },
		"filtered_by_uid":                d.Says("Tasks.UIDs"),
		"filtered_by_index_uid":          d.Says("Tasks.IndexUIDs"),
		"filtered_by_type":               d.Says("Tasks.Types"),
		"filtered_by_status":             d.Says("Tasks.Statuses"),
		"filtered_by_canceled_by":        d.Says("Tasks.CanceledBy"),
		"filtered_by_before_enqueued_at": d.Says("Tasks.BeforeEnqueuedAt"),
		"filtered_by_after_enqueued_at":  d.Says("Tasks.AfterEnqueuedAt"),
		"filtered_by_before_started_at":  d.Says("Tasks.BeforeStartedAt"),
		"filtered_by_after_started_at":   d.Says("Tasks.AfterStartedAt"),
		"filtered_by_before_finished_at": d.Says("Tasks.BeforeFinishedAt"),
		"filtered_by_after_finished_at":  d.Says("Tasks.AfterFinishedAt"),
	})
}

func TestTasks(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	if got := d.Flush(); len(got) != 0 {
		t.Errorf("metrics of a window without a request = %v, want none", got)
	}
	plugintest.Emit(d, event.Tasks{Operation: event.TasksList, Statuses: 1})
	plugintest.Emit(d, event.Tasks{Operation: event.TasksCancel, UIDs: 1})
	got := d.End()
	if got["filtered_by_status"] != true || got["filtered_by_uid"] != true || got["per_task_uid"] != false || len(got) != 12 {
		t.Errorf("metrics = %v, want all 12, status and uid true", got)
	}
}
