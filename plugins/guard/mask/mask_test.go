package main

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/parley-search/parley/sdk/guard"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestConversation(t *testing.T) {
	d := plugintest.NewGuard(t, &mask{}, "manifest.json")
	got := d.Whole(guard.Question, plugintest.User("I am anna@mail.example, not bob@mail.example or <EMAIL_2>."))
	if want := "I am <EMAIL_1>, not <EMAIL_3> or <EMAIL_2>."; got.Text() != want {
		t.Errorf("question: got %q, want %q", got.Text(), want)
	}
	got = d.Whole(guard.Passages, plugintest.Hit("Bob", "https://docs.example/bob", "Call bob@mail.example, +49 30 1234567.")...)
	if want := "Call <EMAIL_3>, <PHONE_1>."; got.Texts[2] != want {
		t.Errorf("passage: got %q, want %q", got.Texts[2], want)
	}
	for said, want := range map[string]string{
		"Write to <EMAIL_1>.":                           "Write to anna@mail.example.",
		"a < b <EMAIL_9> <<EMAIL_3>> <EMAIL_2>":         "a < b <EMAIL_9> <bob@mail.example> <EMAIL_2>",
		"**<email_1>** \\<EMAIL\\_3\\> &lt;PHONE_1&gt;": "**anna@mail.example** bob@mail.example +49 30 1234567",
		"ends with <EMAIL_":                             "ends with <EMAIL_",
		"日本語。<EMAIL_1>です":                               "日本語。anna@mail.exampleです",
	} {
		if got := d.Cuts(guard.Answer, said, 200); got.Text() != want {
			t.Errorf("answer %q: got %q, want %q", said, got.Text(), want)
		}
	}
	if got := d.Whole(guard.Arguments, plugintest.Argument("<EMAIL_3>")); got.Text() != "bob@mail.example" {
		t.Errorf("argument: got %q, want the address", got.Text())
	}
}

func TestHash(t *testing.T) {
	for _, text := range []string{"", "abc", "\x00anna@mail.example", string(make([]byte, 55)), string(make([]byte, 56)), string(make([]byte, 200))} {
		sum := sha256.Sum256([]byte(text))
		if got, want := hash(text), hex.EncodeToString(sum[:6]); got != want {
			t.Errorf("hash of %q: got %s, want %s", text, got, want)
		}
	}
}
