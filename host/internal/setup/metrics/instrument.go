package metrics

import "github.com/prometheus/client_golang/prometheus"

// Counters are one counter for each set of label values that was ever given.
// Safe for concurrent use.
type Counters struct{ vec *prometheus.CounterVec }

// Counters returns counters that [Registry.Render] shows from the first Add
// on. No other source may have a family of that name.
func (r *Registry) Counters(name, help string, labels ...string) *Counters {
	c := &Counters{prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)}
	r.registry.MustRegister(c.vec)
	return c
}

// Add adds n, at least zero, under the values of the labels, in their order. Who
// calls it sees to it that there are not many different ones: each is kept as
// long as the process lives.
func (c *Counters) Add(n float64, values ...string) { c.vec.WithLabelValues(values...).Add(n) }

// Histograms count how many amounts are not above certain bounds, for each set
// of label values. Safe for concurrent use.
type Histograms struct{ vec *prometheus.HistogramVec }

// Histograms returns histograms with these bounds, ascending; they are shown
// as [Registry.Counters] are.
func (r *Registry) Histograms(name, help string, bounds []float64, labels ...string) *Histograms {
	h := &Histograms{prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: bounds}, labels)}
	r.registry.MustRegister(h.vec)
	return h
}

// Observe counts one amount, under label values as those of [Counters.Add].
func (h *Histograms) Observe(amount float64, values ...string) {
	h.vec.WithLabelValues(values...).Observe(amount)
}
