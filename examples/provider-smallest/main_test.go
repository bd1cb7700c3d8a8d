package main

import (
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestSmallest(t *testing.T) {
	d := plugintest.New(smallest{})
	r, err := d.Encode(abi.EncodeRequest{Chat: abi.RawJSON(`{"messages":[{"role":"user","content":"Hi"},{"role":"user","content":"Hello"}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	s := d.Stream()
	if err := s.Decode(abi.FlagLast, abi.Event{Data: []byte(*r.Reply)}); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Text, "You said: Hello"; got != want || s.FinishReason == nil {
		t.Errorf("answer = %q, finish %v, want %q and a finish", got, s.FinishReason, want)
	}
}
