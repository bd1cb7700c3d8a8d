// Package metrics renders figures of the host in the form that Prometheus
// reads. It owns the Prometheus client: who has figures describes them by
// [Family] and knows nothing of it.
package metrics

import (
	"fmt"
	"io"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
)

// A Registry knows where figures come from. It is its own: nothing of other
// libraries' gets in. Safe for concurrent use.
type Registry struct{ registry *prometheus.Registry }

// New returns a Registry of the process and of the Go runtime.
func New() *Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &Registry{r}
}

// Add has read asked for its families at each [Registry.Render], by any
// goroutine. No two sources may have families of one name, and no two samples of
// a family the same labels.
func (r *Registry) Add(read func() []Family) { r.registry.MustRegister(source{read}) }

// Render writes all figures as they are now, by name, in the text form 0.0.4.
func (r *Registry) Render(w io.Writer) error {
	families, err := r.registry.Gather()
	if err != nil {
		return fmt.Errorf("gather metrics: %w", err)
	}
	e := expfmt.NewEncoder(w, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range families {
		if err := e.Encode(f); err != nil {
			return fmt.Errorf("write metric %s: %w", f.GetName(), err)
		}
	}
	return nil
}
