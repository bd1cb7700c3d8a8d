package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
)

// Bounds of what a collector's manifest names.
const (
	maxPath     = 128
	maxSentence = 400
)

var (
	metricKinds  = []string{abi.MetricBool, abi.MetricInt, abi.MetricNumber, abi.MetricString, abi.MetricArray, abi.MetricHistogram}
	aggregations = []string{
		abi.AggregationLast, abi.AggregationAny, abi.AggregationSum, abi.AggregationMax, abi.AggregationAverage,
		abi.AggregationMostUsed, abi.AggregationSet, abi.AggregationConstant, abi.AggregationBuckets, abi.AggregationShare,
	}
	noDatas  = []string{abi.NoDataAlways, abi.NoDataOmit, abi.NoDataNull}
	messages = []string{"", abi.MessageTrack, abi.MessageIdentify}

	eventForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
	pathForm  = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}(\.[A-Za-z0-9_]{1,64}){0,4}$`)
	byForm    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
	labelForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._/+-]{0,63}$`)
)

// maxWhole is the largest whole number that JSON carries everywhere.
const maxWhole = event.MaxCount

// checkCollector returns what is wrong with the part of m that is a
// collector's.
func checkCollector(m *abi.Manifest) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	if m.Source != "" || len(m.Settings) > 0 || len(m.Grants.HTTP) > 0 || len(m.Grants.Secrets) > 0 {
		wrong("source, settings and grants belong to providers: a collector reaches nothing")
	}
	if len(m.Events) == 0 {
		wrong("events is empty: name the events that the metrics are computed from, such as chat or search")
	}
	for i, e := range m.Events {
		if !eventForm.MatchString(e) {
			wrong("events has %s, which is not a name of an event", quoteName(e))
		} else if slices.Index(m.Events, e) < i {
			wrong("events has %s twice", quoteName(e))
		}
	}
	if !slices.Contains(messages, m.Message) {
		wrong("message is %s and must be %s or %s", quoteName(m.Message), abi.MessageTrack, abi.MessageIdentify)
	}
	if n := len(m.Metrics); n == 0 || n > abi.MaxMetrics {
		wrong("metrics has %d entries and must have 1 to %d", n, abi.MaxMetrics)
		return problems
	}
	for i := range m.Metrics {
		for _, p := range checkMetric(m, &m.Metrics[i]) {
			wrong("metric %d (%s): %s", i, quoteName(m.Metrics[i].Path), p)
		}
	}
	return append(problems, checkPaths(m.Metrics)...)
}

// checkPaths refuses paths of which one is another, or leads through it: the
// message is a tree, and a leaf has no branches.
func checkPaths(metrics []abi.Metric) (problems []string) {
	seen := map[string]bool{}
	for _, metric := range metrics {
		if seen[metric.Path] {
			problems = append(problems, fmt.Sprintf("metrics has the path %s twice", quoteName(metric.Path)))
		}
		seen[metric.Path] = true
	}
	for _, metric := range metrics {
		for i, c := range metric.Path {
			if c == '.' && seen[metric.Path[:i]] {
				problems = append(problems, fmt.Sprintf("the path %s leads through %s, which is a metric itself", quoteName(metric.Path), quoteName(metric.Path[:i])))
			}
		}
	}
	return problems
}

// checkMetric returns what is wrong with one metric of m.
func checkMetric(m *abi.Manifest, metric *abi.Metric) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	if len(metric.Path) > maxPath || !pathForm.MatchString(metric.Path) {
		wrong("the path must be one to five names of letters, digits and _, joined with dots")
	}
	if strings.HasPrefix(metric.Path+".", "context.") && !strings.HasPrefix(metric.Path, "context.app.") {
		wrong("in the context of a message only context.app is a collector's")
	}
	if !slices.Contains(metricKinds, metric.Kind) {
		wrong("kind is %s and must be one of: %s", quoteName(metric.Kind), strings.Join(metricKinds, ", "))
		return problems
	}
	if metric.Meaning == "" || len(metric.Meaning) > maxSentence {
		wrong("meaning must be a sentence of at most %d bytes", maxSentence)
	}
	if _, percentile := abi.Percentile(metric.Aggregation); !percentile && !slices.Contains(aggregations, metric.Aggregation) {
		wrong("aggregation is %s and must be a percentile, p50 to p99.9, or one of: %s", quoteName(metric.Aggregation), strings.Join(aggregations, ", "))
	}
	if !slices.Contains(noDatas, metric.NoData) {
		wrong("noData is %s and must be one of: %s", quoteName(metric.NoData), strings.Join(noDatas, ", "))
	}
	if metric.NoData == abi.NoDataNull && !metric.Nullable {
		wrong("noData is null, so nullable must be true")
	}
	for _, e := range metric.Events {
		if !slices.Contains(m.Events, e) {
			wrong("events has %s, which the collector's own events lack", quoteName(e))
		}
	}
	problems = append(problems, checkBuckets(metric)...)
	problems = append(problems, checkValues(metric)...)
	problems = append(problems, checkBy(metric)...)
	return append(problems, checkConstant(metric)...)
}

// checkBuckets holds a histogram, and a share, to what they are made of.
func checkBuckets(metric *abi.Metric) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	histogram := metric.Kind == abi.MetricHistogram
	if histogram != (metric.Aggregation == abi.AggregationBuckets) {
		wrong("the kind histogram and the aggregation buckets come together")
	}
	if metric.Aggregation == abi.AggregationShare && metric.Kind != abi.MetricNumber {
		wrong("the aggregation share is for a number")
	}
	switch n := len(metric.Buckets); {
	case !histogram && n > 0:
		wrong("buckets is for a histogram")
	case histogram && (n == 0 || n > abi.MaxBuckets):
		wrong("buckets has %d bounds and must have 1 to %d", n, abi.MaxBuckets)
	case histogram && (metric.Nullable || metric.NoData != abi.NoDataOmit):
		wrong("a histogram needs noData omit, and is not nullable")
	}
	for i, b := range metric.Buckets {
		if b < 0 || b > maxWhole || i > 0 && b <= metric.Buckets[i-1] {
			wrong("buckets has %d: bounds rise, from 0 to %d", b, int64(maxWhole))
		}
	}
	return problems
}

// takenLabels are those that the figures of GET /metrics have already, or that
// Prometheus adds.
var takenLabels = []string{"collector", "instance", "job", "le", "path", "quantile", "text"}

// checkBy holds the label of a metric to what bounds it.
func checkBy(metric *abi.Metric) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	by := &metric.By
	if by.Label == "" && len(by.Values) == 0 && by.Vocabulary == "" {
		return nil
	}
	if !byForm.MatchString(by.Label) || slices.Contains(takenLabels, by.Label) {
		wrong("by.label is %s and must be 1 to 32 of a-z, 0-9 and _, a letter first, and none of: %s", quoteName(by.Label), strings.Join(takenLabels, ", "))
	}
	switch few := event.FewTexts(); {
	case (len(by.Values) > 0) == (by.Vocabulary != ""):
		wrong("by needs values or a vocabulary, one of them: a label without bounds cannot be sent")
	case by.Vocabulary != "" && !slices.Contains(few, by.Vocabulary):
		wrong("by.vocabulary is %s and must be one with few texts: %s", quoteName(by.Vocabulary), strings.Join(few, ", "))
	}
	if len(by.Values) > abi.MaxByValues {
		wrong("by.values has %d entries and may have %d", len(by.Values), abi.MaxByValues)
	}
	problems = append(problems, checkLabels("by.values", by.Values)...)
	numeric := metric.Kind == abi.MetricInt || metric.Kind == abi.MetricNumber || metric.Format == abi.FormatMillis
	if !numeric && metric.Kind != abi.MetricBool && metric.Kind != abi.MetricHistogram {
		wrong("by is for bool, int, number, histogram and the format millis")
	}
	if metric.Nullable || metric.NoData != abi.NoDataOmit || metric.Aggregation == abi.AggregationConstant {
		wrong("a metric with by needs noData omit, and is neither nullable nor constant: a value of the label with no data is left out")
	}
	return problems
}

// checkLabels holds a list of texts to the form of labels.
func checkLabels(member string, labels []string) (problems []string) {
	for i, l := range labels {
		if !labelForm.MatchString(l) {
			problems = append(problems, fmt.Sprintf("%s has %s, and a label is 1 to 64 of letters, digits, space and . _ / + -, a letter or digit first", member, quoteName(l)))
		} else if slices.Index(labels, l) < i {
			problems = append(problems, fmt.Sprintf("%s has %s twice", member, quoteName(l)))
		}
	}
	return problems
}

// checkValues holds range, labels, vocabulary and format to the kind.
func checkValues(metric *abi.Metric) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	numeric := metric.Kind == abi.MetricInt || metric.Kind == abi.MetricNumber || metric.Format == abi.FormatMillis
	switch r := metric.Range; {
	case numeric && (len(r) != 2 || r[0] > r[1] || r[0] < -maxWhole || r[1] > maxWhole):
		wrong("range must be [least, most], whole numbers within ±%d", int64(maxWhole))
	case !numeric && len(r) > 0:
		wrong("range is for int, number and the format millis")
	}
	textual := metric.Kind == abi.MetricString || metric.Kind == abi.MetricArray
	if !textual && (len(metric.Labels) > 0 || metric.Vocabulary != "" || metric.Format != "") {
		wrong("labels, vocabulary and format are for string and array<string>")
		return problems
	}
	problems = append(problems, checkLabels("labels", metric.Labels)...)
	if len(metric.Labels) > abi.MaxLabels {
		wrong("labels has %d entries and may have %d", len(metric.Labels), abi.MaxLabels)
	}
	if v := metric.Vocabulary; v != "" && !slices.Contains(event.Vocabularies(), v) {
		wrong("vocabulary is %s and must be one of: %s", quoteName(v), strings.Join(event.Vocabularies(), ", "))
	}
	if metric.Kind == abi.MetricArray && (metric.MaxItems < 0 || metric.MaxItems > abi.MaxItems) || metric.Kind != abi.MetricArray && metric.MaxItems != 0 {
		wrong("maxItems is %d: it is for array<string>, 1 to %d", metric.MaxItems, abi.MaxItems)
	}
	return append(problems, checkTexts(metric, textual)...)
}

// checkTexts makes sure that what a string is made of is said in one way.
func checkTexts(metric *abi.Metric, textual bool) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	labels, vocabulary := len(metric.Labels) > 0, metric.Vocabulary != ""
	switch metric.Format {
	case "":
		if textual && len(metric.Constant) == 0 && labels == vocabulary {
			wrong("a %s needs labels or a vocabulary, one of them: free text cannot be sent", metric.Kind)
		}
	case abi.FormatMillis:
		if labels || vocabulary || metric.Kind != abi.MetricString {
			wrong("format millis is for a string without labels and vocabulary")
		}
	case abi.FormatList:
		if !labels || vocabulary || metric.Kind != abi.MetricString {
			wrong("format list is for a string with labels")
		}
	default:
		wrong("format is %s and must be %s or %s", quoteName(metric.Format), abi.FormatMillis, abi.FormatList)
	}
	return problems
}

// checkConstant holds a constant to its metric.
func checkConstant(metric *abi.Metric) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	constant := len(metric.Constant) > 0
	switch {
	case constant != (metric.Aggregation == abi.AggregationConstant):
		wrong("constant and the aggregation constant come together")
		return problems
	case !constant:
		if len(metric.Events) == 0 {
			wrong("events is empty: name the events that it is computed from")
		}
		return problems
	case metric.NoData == abi.NoDataNull:
		wrong("noData of a constant must be always, or omit for one that only comes along with others")
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(metric.Constant))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		wrong("constant is not JSON: %v", err)
		return problems
	}
	if !constantFits(metric, value) {
		wrong("constant %.64s is not a value of kind %s with its range or labels", string(metric.Constant), metric.Kind)
	}
	return problems
}

func constantFits(metric *abi.Metric, value any) bool {
	isText := func(v any) bool {
		s, ok := v.(string)
		return ok && (s == "" || labelForm.MatchString(s)) && (len(metric.Labels) == 0 || slices.Contains(metric.Labels, s))
	}
	switch v := value.(type) {
	case nil:
		return metric.Nullable
	case bool:
		return metric.Kind == abi.MetricBool
	case json.Number:
		if metric.Kind != abi.MetricInt && metric.Kind != abi.MetricNumber || len(metric.Range) != 2 {
			return false
		}
		if n, err := v.Int64(); err == nil {
			return n >= metric.Range[0] && n <= metric.Range[1]
		}
		f, err := v.Float64()
		return err == nil && metric.Kind == abi.MetricNumber && f >= float64(metric.Range[0]) && f <= float64(metric.Range[1])
	case string:
		return metric.Kind == abi.MetricString && isText(v)
	case []any:
		most := metric.MaxItems
		if most == 0 {
			most = abi.DefaultItems
		}
		return metric.Kind == abi.MetricArray && len(v) <= most && !slices.ContainsFunc(v, func(e any) bool { return !isText(e) })
	}
	return false
}
