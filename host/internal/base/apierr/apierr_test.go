package apierr

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestFrom(t *testing.T) {
	if e := From(nil); e != nil {
		t.Errorf("From(nil) = %v, want nil", e)
	}
	e := Newf(NotFound, "no %s", "x")
	if got := From(fmt.Errorf("get: %w", e)); got != e {
		t.Errorf("From of a wrapped Error = %v, want it", got)
	}
	got := From(fmt.Errorf("open /secret/path: %w", io.ErrUnexpectedEOF))
	if got.Code != Internal || strings.Contains(got.Message, "secret") || !errors.Is(got, io.ErrUnexpectedEOF) {
		t.Errorf("From of any error = %v, want code internal, a message without it, and it as the cause", got)
	}
	if !Is(fmt.Errorf("x: %w", e), NotFound) || Is(e, Internal) || Is(io.EOF, Internal) {
		t.Error("Is does not tell codes apart")
	}
}
