package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/abi/metric"
)

// observe hands over a batch. An error is a breach of the contract.
func (g *guest) observe(b batch) error {
	n, err := g.p.Count(abi.FuncObserve, b.records)
	g.s.fuel[abi.FuncObserve] = append(g.s.fuel[abi.FuncObserve], g.p.Fuel())
	if err != nil {
		return fmt.Errorf("%s of %s: %w", abi.FuncObserve, b.name, brief(err))
	}
	if int(n) > b.count {
		return fmt.Errorf("%s of %s, which has %d events, says that it took %d", abi.FuncObserve, b.name, b.count, n)
	}
	if int(n) < b.count {
		return fmt.Errorf("%s of %s, which has %d events, took %d", abi.FuncObserve, b.name, b.count, n)
	}
	return nil
}

// flush asks for the window's metrics; with reset it ends the window.
func (g *guest) flush(flags uint32) (reply, error) {
	answer, err := g.p.Call(abi.FuncFlush, abi.AppendFlushInput(nil, flags), nil)
	g.s.fuel[abi.FuncFlush] = append(g.s.fuel[abi.FuncFlush], g.p.Fuel())
	if err != nil {
		return reply{}, fmt.Errorf("%s: %w", abi.FuncFlush, brief(err))
	}
	return reply{answer: answer}, g.s.allowed(answer)
}

// allowed says why a host could not use metric records, or which of them.
func (s *subject) allowed(records []byte) error {
	// Every handle that is not 0 was in some event of the kit's, each for a text
	// of its own.
	said := metric.Read(s.manifest.Metrics, records, func(_ string, handle uint64) (string, bool) {
		return strconv.FormatUint(handle, 10), handle > 0
	})
	if said.Wrong > 0 {
		return wrongMetric("what %s answers is wrong: %s", abi.FuncFlush, said.Problems[0])
	}
	for i := range s.manifest.Metrics {
		if m := &s.manifest.Metrics[i]; m.NoData == abi.NoDataAlways && len(m.Constant) == 0 && !said.Seen[i] && !toldFirst(m) {
			return wrongMetric("%s answers no metric %s, and the manifest promises one always", abi.FuncFlush, m.Path)
		}
	}
	return nil
}

// toldFirst reports whether m is made of what a host tells of itself when a
// window begins. The windows of the kit begin with anything, and with fields
// that are not given, so that such a metric may have no value here.
func toldFirst(m *abi.Metric) bool {
	return slices.ContainsFunc(m.Events, func(name string) bool {
		kind := event.KindOf(name)
		return kind == event.KindLaunch || kind == event.KindFeatures || kind == event.KindHost
	})
}

// checkCollectorRegion is checkRegion for batches.
func checkCollectorRegion(s *subject) (string, error) {
	g, other, err := s.pair()
	if err != nil {
		return "", err
	}
	most := uint32(g.p.MaxInput())
	for _, n := range []uint32{1, 8 << 10, most, most, 1} {
		if _, err := g.p.Region(n); err != nil {
			return "", brief(err)
		}
	}
	b := s.batch(3)
	if err := errors.Join(g.observe(b), other.observe(b)); err != nil {
		return "", err
	}
	return "up to " + size(uint64(most)), equalFlush("after regions of many bytes and then of fewer", other, g)
}

// equalFlush compares what two instances say of their windows.
func equalFlush(when string, want, got *guest) error {
	w, err := want.flush(0)
	if err != nil {
		return err
	}
	g, err := got.flush(0)
	if err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	if !g.equal(w) {
		return fmt.Errorf("%s, flush answers %s, and %s without", when, g, w)
	}
	return nil
}
