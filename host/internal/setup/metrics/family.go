package metrics

import "github.com/prometheus/client_golang/prometheus"

// A Kind says how a family's samples are to be read.
type Kind int

// The kinds of [Family].
const (
	Counter   Kind = iota // only rises while the process lives
	Gauge                 // rises and falls
	Summary               // quantiles of many amounts, with their sum and count
	Histogram             // many amounts by buckets, with their sum and count
)

// A Family is one metric with its samples.
type Family struct {
	Name    string // parley_…, with the unit at its end, and _total for a counter
	Help    string
	Kind    Kind
	Labels  []string // names
	Samples []Sample
}

// A Sample is a family's figure for one set of label values.
type Sample struct {
	Labels []string // as many as the family's
	Value  float64  // of a summary or histogram: the sum
	// Count is of a summary or histogram: amounts. Quantiles are of a summary: by part
	// (0.5) the amount that so many did not go over. Buckets are of a histogram: by upper
	// bound, how many amounts are not above it.
	Count     uint64
	Quantiles map[float64]float64
	Buckets   map[float64]uint64
}

// source is what Prometheus's client calls a collector; it describes nothing,
// since its families may come and go.
type source struct{ read func() []Family }

func (source) Describe(chan<- *prometheus.Desc) {}

func (s source) Collect(out chan<- prometheus.Metric) {
	for _, f := range s.read() {
		desc := prometheus.NewDesc(f.Name, f.Help, f.Labels, nil)
		for _, sample := range f.Samples {
			out <- sample.metric(desc, f.Kind)
		}
	}
}

// metric is s for the client; where it cannot be, one that makes Gather fail
// with the reason.
func (s *Sample) metric(desc *prometheus.Desc, k Kind) prometheus.Metric {
	var m prometheus.Metric
	var err error
	switch k {
	case Summary:
		m, err = prometheus.NewConstSummary(desc, s.Count, s.Value, s.Quantiles, s.Labels...)
	case Histogram:
		m, err = prometheus.NewConstHistogram(desc, s.Count, s.Value, s.Buckets, s.Labels...)
	case Gauge:
		m, err = prometheus.NewConstMetric(desc, prometheus.GaugeValue, s.Value, s.Labels...)
	default:
		m, err = prometheus.NewConstMetric(desc, prometheus.CounterValue, s.Value, s.Labels...)
	}
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return m
}
