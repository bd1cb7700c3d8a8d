package chat

import "testing"

// What a step costs where nobody is told: no allocation.
func BenchmarkUntracedStep(b *testing.B) {
	var d Deps
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		_, s := d.step(ctx, stepRound)
		s.Number("round", 1)
		s.End(nil)
	}
}

func TestUntracedStepAllocatesNothing(t *testing.T) {
	var d Deps
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		_, s := d.step(ctx, stepRound)
		s.Number("round", 1)
		s.Text("plugin", "p")
		s.End(nil)
	}); n != 0 {
		t.Errorf("a step without a tracer allocates %v times, want none", n)
	}
}
