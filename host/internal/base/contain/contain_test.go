package contain

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestCall(t *testing.T) {
	plain := errors.New("plain")
	if err := Call(func() error { return plain }); !errors.Is(err, plain) || Is(err) {
		t.Errorf("an error came as %v", err)
	}
	var none []int
	err := Call(func() error { _ = none[len(none)]; return nil })
	if !Is(err) || !strings.Contains(err.Error(), "index out of range") || !strings.Contains(err.Error(), "contain_test.go") {
		t.Errorf("a panic came as %v, want one that says what and where", err)
	}
	if err := Call(func() error { panic("a client's secret") }); strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "string") {
		t.Errorf("a panic with a text came as %v, want its type and not the text", err)
	}
}

// TestGroup: a panic of a goroutine is one of who waits, who can contain it.
func TestGroup(t *testing.T) {
	err := Call(func() error {
		var g Group
		done := make(chan struct{})
		g.Go(func() { <-done; panic(errors.New("one")) })
		g.Go(func() { close(done) })
		g.Wait()
		return nil
	})
	if !Is(err) {
		t.Errorf("got %v, want the panic of the goroutine", err)
	}
	var g Group
	g.Go(func() {})
	g.Wait()
}

func TestKeep(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	told, calls := 0, 0
	Keep(ctx, func(context.Context) {
		calls++
		panic("first")
	}, func(error) { told++; cancel() })
	if told != 1 || calls != 1 {
		t.Errorf("%d calls, told %d times after ctx ended; want 1 and 1", calls, told)
	}
}
