package conformance

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// TestAllowed takes different handles for different texts, and asks for a value
// that is promised always only where the kit's own events must bring it.
func TestAllowed(t *testing.T) {
	s := &subject{manifest: &abi.Manifest{Metrics: []abi.Metric{
		{Path: "agents", Kind: abi.MetricArray, Vocabulary: "user_agent", NoData: abi.NoDataOmit, Events: []string{"http_request"}},
		{Path: "version", Kind: abi.MetricString, Vocabulary: "version", NoData: abi.NoDataAlways, Events: []string{"launch"}},
		{Path: "chats", Kind: abi.MetricInt, Range: []int64{0, 9}, NoData: abi.NoDataAlways, Events: []string{"chat"}},
	}}}
	chats := abi.AppendMetric(nil, 2, abi.TagInt, 1)
	if err := s.allowed(abi.AppendMetric(chats, 0, abi.TagHandles, 3, 4)); err != nil {
		t.Errorf("allowed: %v, want nothing wrong", err)
	}
	if err := s.allowed(abi.AppendMetric(chats, 0, abi.TagHandles, 3, 3)); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("allowed of a handle twice: %v, want that said", err)
	}
	if err := s.allowed(nil); err == nil || !strings.Contains(err.Error(), "no metric chats") {
		t.Errorf("allowed of nothing: %v, want chats missed, and not the version, which a host tells first", err)
	}
}
