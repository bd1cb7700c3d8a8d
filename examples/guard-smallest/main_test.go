package main

import (
	"testing"

	"github.com/parley-search/parley/sdk/guard"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestConversation(t *testing.T) {
	d := plugintest.NewGuard(t, &codenames{}, "manifest.json")
	d.SetOptions(`{"names": "bluebird"}`)
	asked := d.Whole(guard.Question, plugintest.User("When does Bluebird ship?"))
	if want := "When does <PROJECT_1> ship?"; asked.Text() != want {
		t.Errorf("question: got %q, want %q", asked.Text(), want)
	}
	// The answer comes in one piece, byte by byte, and cut in a hundred other ways.
	answered := d.Cuts(guard.Answer, "<PROJECT_1> ships in May.", 100)
	if want := "Bluebird ships in May."; answered.Text() != want {
		t.Errorf("answer: got %q, want %q", answered.Text(), want)
	}
}
