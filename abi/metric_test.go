package abi_test

import (
	"encoding/hex"
	"errors"
	"strconv"
	"testing"

	"github.com/parley-search/parley/abi"
)

type metricVector struct {
	Name   string
	Metric uint16
	Tag    abi.MetricTag
	Words  []string
	Hex    hexBytes
}

func (v metricVector) words(t *testing.T) []uint64 {
	t.Helper()
	all := make([]uint64, len(v.Words))
	for i, s := range v.Words {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = uint64(n)
	}
	return all
}

func TestMetricVectors(t *testing.T) {
	for _, v := range vectors[metricVector](t, "metrics.json") {
		want := v.words(t)
		if got := abi.AppendMetric(nil, v.Metric, v.Tag, want...); hex.EncodeToString(got) != hex.EncodeToString(v.Hex) {
			t.Errorf("%s: AppendMetric = %x, want %x", v.Name, got, v.Hex)
		}
		r, rest, ok, err := abi.NextMetric(v.Hex)
		if err != nil || !ok || len(rest) != 0 || r.Metric != v.Metric || r.Tag != v.Tag || r.Len() != len(want) {
			t.Errorf("%s: NextMetric = metric %d, tag %d, %d words, %d more bytes, %v, %v", v.Name, r.Metric, r.Tag, r.Len(), len(rest), ok, err)
			continue
		}
		for i, w := range want {
			if got := r.Word(i); got != w {
				t.Errorf("%s: word %d = %d, want %d", v.Name, i, got, w)
			}
		}
	}
}

func TestMetricBadVectors(t *testing.T) {
	for _, v := range vectors[metricVector](t, "metrics-bad.json") {
		b := []byte(v.Hex)
		var err error
		for ok := true; ok && err == nil; {
			_, b, ok, err = abi.NextMetric(b)
		}
		if !errors.Is(err, abi.ErrMalformed) {
			t.Errorf("%s: NextMetric: %v, want %v", v.Name, err, abi.ErrMalformed)
		}
	}
}

func TestFlushInputVectors(t *testing.T) {
	type vector struct {
		Name  string
		Flags *uint32
		Hex   hexBytes
	}
	for _, v := range vectors[vector](t, "flush-input.json") {
		got, err := abi.ParseFlushInput(v.Hex)
		switch {
		case v.Flags == nil && !errors.Is(err, abi.ErrMalformed):
			t.Errorf("%s: ParseFlushInput: %v, want %v", v.Name, err, abi.ErrMalformed)
		case v.Flags != nil && (err != nil || got != *v.Flags):
			t.Errorf("%s: ParseFlushInput = %d, %v, want %d", v.Name, got, err, *v.Flags)
		}
	}
	if got, err := abi.ParseFlushInput(abi.AppendFlushInput(nil, abi.FlushReset)); err != nil || got != abi.FlushReset {
		t.Errorf("the input that AppendFlushInput writes reads as %d, %v", got, err)
	}
}

// FuzzNextMetric reads anything, to its end and no further.
func FuzzNextMetric(f *testing.F) {
	f.Add(abi.AppendMetric(nil, 3, abi.TagHandles, 1, 2))
	f.Add([]byte{0, 0, 5, 0, 0, 0, 0, 0x20})
	f.Fuzz(func(t *testing.T, b []byte) {
		for {
			r, rest, ok, err := abi.NextMetric(b)
			if err != nil || !ok {
				return
			}
			if 8+8*r.Len()+len(rest) != len(b) {
				t.Fatalf("NextMetric cut %d bytes into %d words and %d more", len(b), r.Len(), len(rest))
			}
			for i := range r.Len() {
				_ = r.Word(i)
			}
			b = rest
		}
	})
}
