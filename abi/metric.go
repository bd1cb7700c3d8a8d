package abi

import "encoding/binary"

// The values of [Manifest.Message].
const (
	MessageTrack    = "track"    // what happened in a window
	MessageIdentify = "identify" // what the instance is
)

// A Metric is one named value that a collector may give a window. What is not
// declared here cannot be said.
type Metric struct {
	Path        string   `json:"path"` // segments of [A-Za-z0-9_], joined with dots
	Kind        string   `json:"kind"` // [MetricBool] and so on
	Nullable    bool     `json:"nullable,omitempty"`
	Meaning     string   `json:"meaning"`          // a sentence for a person
	Source      string   `json:"source,omitempty"` // what it is taken from, for a person
	Note        string   `json:"note,omitempty"`
	Events      []string `json:"events,omitempty"` // that it is computed from; none for a constant
	Aggregation string   `json:"aggregation"`      // [AggregationLast] and so on
	// NoData says what the message has where the collector gives no value.
	NoData string `json:"noData"` // [NoDataOmit] and so on
	// Buckets are the upper bounds of a histogram's buckets, rising, 1 to [MaxBuckets]:
	// a number belongs to the first one that it is not above.
	Buckets []int64 `json:"buckets,omitempty"`
	// Range is the least and the most of an int or a number.
	Range []int64 `json:"range,omitempty"`
	// Labels are the texts that a string or an array may be made of; ordinal 1
	// is the first.
	Labels []string `json:"labels,omitempty"`
	// Vocabulary, in place of Labels, is that of the handles that a string or an
	// array is made of.
	Vocabulary string `json:"vocabulary,omitempty"`
	// Format says how the host writes a string that is neither a label nor a
	// handle: [FormatMillis] or [FormatList].
	Format string `json:"format,omitempty"`
	// MaxItems bounds an array; default [DefaultItems].
	MaxItems int `json:"maxItems,omitempty"`
	// By divides the metric: it has one value for each value of this label.
	By By `json:"by,omitzero"`
	// Constant is the metric's one value, where what it counts cannot happen in
	// this host. The host writes it; the guest does not.
	Constant RawJSON `json:"constant,omitempty"`
}

// A By is the label of a metric. Its values are bounded: they are listed, or the
// texts of a vocabulary that has few of them.
type By struct {
	Label  string   `json:"label"`            // its name, as Prometheus has it
	Values []string `json:"values,omitempty"` // at most [MaxByValues]; ordinal 1 is the first
	// Vocabulary, in place of Values, is that of the handles that the values are:
	// one of event.FewTexts.
	Vocabulary string `json:"vocabulary,omitempty"`
}

// The kinds of a [Metric].
const (
	MetricBool   = "bool"
	MetricInt    = "int"
	MetricNumber = "number"
	MetricString = "string"
	MetricArray  = "array<string>"
	// MetricHistogram counts numbers by buckets; with [FeatureHistogram].
	MetricHistogram = "histogram"
)

// The values of [Metric.Aggregation]: how one value comes of a window's events.
const (
	AggregationLast     = "last"
	AggregationAny      = "any"
	AggregationSum      = "sum"
	AggregationMax      = "max"
	AggregationAverage  = "avg"
	AggregationP99      = "p99" // a percentile, by the nearest rank: see [Percentile]
	AggregationMostUsed = "most_used"
	AggregationSet      = "set"
	AggregationConstant = "constant"
	AggregationBuckets  = "buckets" // of a histogram
	AggregationShare    = "share"   // a sum over a sum; with [FeatureShare]
)

// Percentile returns the rank that an aggregation p50 to p99.9 stands for, in
// thousandths; ok is false where it is no percentile.
func Percentile(aggregation string) (perMille uint64, ok bool) {
	if len(aggregation) != 3 && len(aggregation) != 5 || aggregation[0] != 'p' {
		return 0, false
	}
	for i, c := range []byte(aggregation[1:]) {
		switch {
		case i == 2 && c == '.':
		case i != 2 && c >= '0' && c <= '9':
			perMille = 10*perMille + uint64(c-'0')
		default:
			return 0, false
		}
	}
	if len(aggregation) == 3 {
		perMille *= 10
	} else if perMille%10 == 0 {
		return 0, false // p99.0 is p99
	}
	return perMille, perMille >= 500
}

// The values of [Metric.NoData].
const (
	NoDataAlways = "always" // there is always a value
	NoDataOmit   = "omit"   // the metric is left out
	NoDataNull   = "null"   // the metric is null
)

// The values of [Metric.Format].
const (
	FormatMillis = "millis" // an int of milliseconds, as "57ms"
	FormatList   = "list"   // labels joined with ", "
)

// Bounds of a collector's manifest and of arrays.
const (
	MaxMetrics   = 1024
	MaxLabels    = 256
	MaxItems     = 64
	DefaultItems = 32
	// MaxByValues bounds the values of a label. A vocabulary may have "other"
	// besides.
	MaxByValues = 64
	MaxBuckets  = 20
)

// A MetricTag says what the words of a metric record are.
type MetricTag uint8

// The tags. A host skips records with a tag that it does not know.
const (
	TagNull    MetricTag = 1 // none
	TagBool    MetricTag = 2 // one: 0 or 1
	TagInt     MetricTag = 3 // one: a signed number
	TagRatio   MetricTag = 4 // two: a signed numerator, a denominator above 0; the host divides
	TagLabels  MetricTag = 5 // ordinals of the metric's labels; one for a string
	TagHandles MetricTag = 6 // handles of this window; one for a string
	// TagHistogram is the sum of all numbers, how many there are in each bucket, and how
	// many above the last one.
	TagHistogram MetricTag = 7

	// TagBy comes on top of another tag: the first word is the value of the
	// metric's label, and the others are what that tag says.
	TagBy MetricTag = 0x80
)

const metricHead = 8

// AppendMetric appends a metric record to b: u16 metric, u8 tag, u8 0, u32 count,
// count × u64. metric is the place in [Manifest.Metrics]. All numbers are
// little-endian.
func AppendMetric(b []byte, metric uint16, tag MetricTag, words ...uint64) []byte {
	b = binary.LittleEndian.AppendUint16(b, metric)
	b = append(b, byte(tag), 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(words)))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// A MetricRecord is one metric of a window, read in place.
type MetricRecord struct {
	Metric uint16
	Tag    MetricTag
	words  []byte
}

// Len is the number of words.
func (r MetricRecord) Len() int { return len(r.words) / 8 }

// Word returns word i.
func (r MetricRecord) Word(i int) uint64 { return binary.LittleEndian.Uint64(r.words[8*i:]) }

// SplitBy takes the value of the label off a record that has one, which is then as
// if it had none; ok is false where there is none.
func (r MetricRecord) SplitBy() (value uint64, rest MetricRecord, ok bool) {
	if r.Tag&TagBy == 0 || r.Len() == 0 {
		return 0, r, false
	}
	return r.Word(0), MetricRecord{r.Metric, r.Tag &^ TagBy, r.words[8:]}, true
}

// NextMetric cuts the first record off b. It returns [ErrMalformed] where b is
// neither empty nor begins with a whole record; with an empty b, ok is false.
func NextMetric(b []byte) (r MetricRecord, rest []byte, ok bool, err error) {
	if len(b) == 0 {
		return r, nil, false, nil
	}
	if len(b) < metricHead {
		return r, nil, false, ErrMalformed
	}
	n := uint64(binary.LittleEndian.Uint32(b[4:])) * 8
	if n > uint64(len(b)-metricHead) {
		return r, nil, false, ErrMalformed
	}
	end := metricHead + int(n)
	return MetricRecord{binary.LittleEndian.Uint16(b), MetricTag(b[2]), b[metricHead:end:end]}, b[end:], true, nil
}

// Flags of a flush call.
const (
	// FlushReset: the window ends. Answer its metrics, then forget it.
	FlushReset = 1 << 0
)

// AppendFlushInput appends the input of a flush call to b: u32 flags.
func AppendFlushInput(b []byte, flags uint32) []byte {
	return binary.LittleEndian.AppendUint32(b, flags)
}

// ParseFlushInput reads the input of a flush call.
func ParseFlushInput(b []byte) (flags uint32, err error) {
	if len(b) < 4 {
		return 0, ErrMalformed
	}
	return binary.LittleEndian.Uint32(b), nil
}
