package task

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// A Batch is what was applied together: one task, or several that joined.
type Batch struct {
	UID        uint32
	Tasks      UIDs
	Details    json.RawMessage // those of its tasks, numbers added up
	Statuses   map[Status]int
	Types      map[Type]int
	Indexes    map[string]int
	CanceledBy []uint32   `json:",omitempty"`
	Strategy   string     `json:",omitempty"` // why it has these tasks and no more; "": not noted
	Trace      []StepTime `json:",omitempty"` // the steps that applying it took
	Oldest     time.Time  // EnqueuedAt of its first task
	Newest     time.Time  // and of its last
	StartedAt  time.Time
	FinishedAt time.Time // zero before

	// Progress is where it stands; only while it is applied.
	Progress *Progress `json:"-"`
}

// A StepTime is a step of applying a batch, and how long it took.
type StepTime struct {
	Step string
	Took time.Duration
}

// Duration is the time that applying b took, zero while it is not finished.
func (b *Batch) Duration() time.Duration {
	if b.FinishedAt.IsZero() {
		return 0
	}
	return b.FinishedAt.Sub(b.StartedAt)
}

// newBatch sums up tasks, at least one, that are applied together.
func newBatch(uid uint32, tasks []Task) *Batch {
	b := &Batch{
		UID: uid, Statuses: map[Status]int{}, Types: map[Type]int{}, Indexes: map[string]int{},
		Oldest: tasks[0].EnqueuedAt, Newest: tasks[0].EnqueuedAt, StartedAt: tasks[0].StartedAt, FinishedAt: tasks[0].FinishedAt,
	}
	uids := make([]uint32, len(tasks))
	details := make([]json.RawMessage, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		uids[i], details[i] = t.UID, t.Details
		b.Statuses[t.Status]++
		b.Types[t.Type]++
		for _, index := range t.Concerns() {
			b.Indexes[index]++
		}
		if t.CanceledBy != nil && !slices.Contains(b.CanceledBy, *t.CanceledBy) {
			b.CanceledBy = append(b.CanceledBy, *t.CanceledBy)
		}
		if t.EnqueuedAt.Before(b.Oldest) {
			b.Oldest = t.EnqueuedAt
		}
		if t.EnqueuedAt.After(b.Newest) {
			b.Newest = t.EnqueuedAt
		}
	}
	b.Tasks = NewUIDs(uids)
	b.Details = mergeDetails(details)
	return b
}

// mergeDetails adds up the numbers of all details. Of what is not a number, the
// last one counts.
func mergeDetails(all []json.RawMessage) json.RawMessage {
	if len(all) == 1 {
		return all[0]
	}
	sum := map[string]any{}
	for _, d := range all {
		var m map[string]any
		if json.Unmarshal(d, &m) != nil {
			continue
		}
		for k, v := range m {
			if before, ok := sum[k].(float64); ok {
				if n, ok := v.(float64); ok {
					v = before + n
				} else if v == nil {
					continue
				}
			}
			sum[k] = v
		}
	}
	return encodeDetails(sum)
}

const (
	maxDetails = 64 << 10 // bytes of a task's details, beyond which members over maxDetail are left out
	maxDetail  = 2 << 10
)

// shorten leaves large members out of details that are large, and names them: a list of
// tasks, a batch and the messages of webhooks hold the details of many.
func shorten(details json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if len(details) <= maxDetails || json.Unmarshal(details, &m) != nil {
		return details
	}
	left, kept := []string{}, map[string]any{}
	for name, v := range m {
		if len(v) > maxDetail {
			left = append(left, name)
		} else {
			kept[name] = v
		}
	}
	slices.Sort(left)
	kept["leftOut"] = left
	return encodeDetails(kept)
}

// unapplied returns the details of a task that came to its end without being
// applied: the counts that are not known yet are 0.
func unapplied(details json.RawMessage) json.RawMessage {
	if !bytes.Contains(details, []byte("null")) {
		return details
	}
	var m map[string]any
	if json.Unmarshal(details, &m) != nil {
		return details
	}
	for _, k := range []string{"indexedDocuments", "deletedDocuments", "canceledTasks", "deletedTasks"} {
		if v, ok := m[k]; ok && v == nil {
			m[k] = 0
		}
	}
	return encodeDetails(m)
}

func encodeDetails(m map[string]any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		panic("encode details: " + err.Error()) // they came out of JSON
	}
	return bytes.TrimSpace(b.Bytes())
}
