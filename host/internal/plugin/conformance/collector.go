package conformance

import (
	"fmt"

	"github.com/parley-search/parley/abi"
)

// collectorChecks are those of a collector's calls.
func collectorChecks() []check {
	return []check{
		{
			name:   "input region",
			about:  "gives an input region of any size up to the limit, within its memory, that stays good when a smaller one is asked for",
			remedy: "Let `parley_input` keep one region that only grows: return the one that there is while it is large enough.",
			run:    checkCollectorRegion,
		},
		{
			name:   "observe",
			about:  "takes every event of the kinds in its manifest",
			remedy: "Return how many records the input has, those of no interest among them.",
			run:    checkObserve,
		},
		{
			name:   "flush",
			about:  "answers metrics that its manifest allows, the same as often as it is asked, and none of them once the window has ended",
			remedy: "Hold the records to abi/README.md, section Flush, and to the manifest: kind, range, labels, `noData`. Change nothing while flag reset is not set, and forget everything when it is.",
			run:    checkFlush,
		},
		{
			name:   "determinism",
			about:  "makes the same metrics of the same events, on any instance and however they are cut into batches",
			remedy: "Read every record of a batch, in order. No clock, no random numbers, no order of a hash map.",
			run:    checkBatches,
		},
		{
			name:   "later versions",
			about:  "overlooks events, fields and flags that it does not know, and takes fields that are missing for 0",
			remedy: "Go from record to record by the number of fields in its head, skip kinds that you do not know, and test the flag that you know and no other.",
			run:    checkLaterEvents,
		},
		{
			name:   "vectors",
			about:  "reads the contract's events and inputs of flush, and does not follow those that are none",
			remedy: "Check each length against the bytes that are left before you follow it. The vectors lie in abi/testdata/vectors.",
			run:    checkEventVectors,
		},
		{
			name:   "save and load",
			about:  "goes on in another instance from what it saved, and changes nothing when it cannot",
			remedy: "Save all that flush hangs on, and check what comes to load before you take anything of it: answer 0 where it is not yours.",
			run:    checkSave,
		},
		{
			name:   "garbage",
			about:  "ends input that is empty, cut off or scrambled without a trap",
			remedy: "Look at the length before the bytes, and check every length against what is left.",
			run:    checkCollectorGarbage,
		},
		{
			name:   "large input",
			about:  "takes batches up to a sixteenth of its memory",
			remedy: "Let the input region grow, or ask for more with `limits.memoryMiB` in the manifest.",
			run:    checkLargeBatch,
		},
		{
			name:   "memory",
			about:  "does not grow from window to window, and does not slow down",
			remedy: "Bound what a window may hold: sets of a size, counts in place of lists.",
			run:    checkCollectorMemory,
		},
		{
			name:   "self-test",
			about:  "makes of the windows of its manifest's `selfTest` the metrics that it says",
			remedy: "Mend the collector, or the manifest's `selfTest`: a host runs it before it takes a version up.",
			run:    checkSelfTest,
		},
	}
}

func checkObserve(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	for n := range 20 {
		if err := g.observe(s.batch(n)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d kinds", len(s.kinds())), nil
}

func checkFlush(s *subject) (string, error) {
	g, fresh, err := s.pair()
	if err != nil {
		return "", err
	}
	empty, err := fresh.flush(0)
	if err != nil {
		return "", fmt.Errorf("of an empty window: %w", err)
	}
	if err := g.observe(s.batch(50)); err != nil {
		return "", err
	}
	first, err := g.flush(0)
	if err != nil {
		return "", err
	}
	for _, flags := range []uint32{0, abi.FlushReset} {
		again, err := g.flush(flags)
		if err != nil {
			return "", err
		}
		if !again.equal(first) {
			return "", fmt.Errorf("flush answers %s, and asked again %s", first, again)
		}
	}
	after, err := g.flush(0)
	if err != nil {
		return "", err
	}
	if !after.equal(empty) {
		return "", fmt.Errorf("after a flush with flag reset the next one answers %s, and %s in a window without events", after, empty)
	}
	return fmt.Sprintf("%d metrics", len(s.manifest.Metrics)), nil
}

// checkBatches gives the same events whole, one by one, and to two instances.
func checkBatches(s *subject) (string, error) {
	whole, apart, err := s.pair()
	if err != nil {
		return "", err
	}
	const n = 64
	if err := whole.observe(s.batch(n)); err != nil {
		return "", err
	}
	for i := range n {
		if err := apart.observe(s.events(i, 1)); err != nil {
			return "", err
		}
	}
	if err := equalFlush("one event a call", whole, apart); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d events", n), nil
}
