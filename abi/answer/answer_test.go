package answer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/answer"
)

func TestModels(t *testing.T) {
	const template = `{"models":[{"name":"models/{{model}}"},"{{..}}"],"page":{"next":"{{next}}"}}`
	for _, tt := range []struct {
		name, body, next, problem string
		want                      []string
	}{
		{name: "a page", body: `{"models":[{"name":"models/b"},{"name":"models/a","x":1}],"page":{"next":"2"}}`, want: []string{"b", "a"}, next: "2"},
		{name: "the last page", body: `{"models":[{"name":"models/b"}]}`, want: []string{"b"}},
		{name: "null for no page", body: `{"models":[],"page":{"next":null}}`},
		{name: "names of others", body: `{"models":[{"name":"tuned/b"},{"name":"models/"}]}`},
		{name: "no list", body: `{"secret":1}`, problem: "has nothing at `models`"},
		{name: "no name", body: `{"models":[{"secret":1}]}`, problem: "has nothing at `name`"},
		{name: "a number", body: `{"models":[{"name":7}]}`, problem: "something else than a text"},
		{name: "HTML", body: `<html>secret`, problem: "is not JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := answer.Read(&abi.EncodeRequest{Op: abi.OpModels}, []byte(template), []byte(tt.body))
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) || strings.Contains(err.Error(), "secret") {
					t.Fatalf("Read = %v, want %q", err, tt.problem)
				}
				return
			}
			if err != nil || !slices.Equal(got.Models, tt.want) || got.Next != tt.next {
				t.Errorf("Read = %+v, %v; want %q, %q", got, err, tt.want, tt.next)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	for template, want := range map[string]string{
		`{"data":[{"id":"{{model}}"},"{{..}}"]}`: "",
		``:                                       "not JSON",
		`{"data":[{"id":"x"},"{{..}}"]}`:         "without",
		`{"data":"{{model}}"}`:                   "repeats",
		`{"a":["{{model}}","{{..}}"],"b":"{{next}}","c":"{{next}}"}`: "2 times",
		`{"a":["{{model}}","{{..}}"],"b":"{{model}}"}`:               "2 times",
	} {
		err := answer.Check(abi.OpModels, []byte(template))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("Check of %s = %v, want %q", template, err, want)
		}
	}
	if err := answer.Check("nope", []byte(`{}`)); err == nil {
		t.Error("Check took an op that there is not")
	}
}
