package response

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// TestRules breaks each rule for a response as a whole and sees it named.
func TestRules(t *testing.T) {
	record := func(kind abi.RecordKind, payload string) []byte { return abi.AppendRecord(nil, kind, payload) }
	start := func(index int, id, name string) []byte { return abi.AppendToolStart(nil, index, id, name) }
	var (
		text   = record(abi.RecordText, "x")
		finish = record(abi.RecordFinish, "stop")
		calls  = record(abi.RecordFinish, "tool_calls")
		failed = record(abi.RecordError, `{"kind":"upstream","message":"m"}`)
	)
	tests := []struct {
		name    string
		records [][]byte
		want    string // in what is broken; empty where nothing is
	}{
		{"text and a finish", [][]byte{text, finish, abi.AppendUsage(nil, abi.Usage{}, nil), abi.AppendResponse(nil, "id", "m"), record(abi.RecordCarry, "c"), record(abi.RecordExtra, "{}")}, ""},
		{"text and an error", [][]byte{text, failed}, ""},
		{"a call", [][]byte{start(0, "id", "f"), abi.AppendToolArguments(nil, 0, "{}"), calls}, ""},
		{"a call that was cut off", [][]byte{start(0, "id", "f"), record(abi.RecordFinish, "length")}, ""},
		{"a kind of a later version", [][]byte{record(99, "x"), finish}, ""},
		{"no end", [][]byte{text}, "neither a finish nor an error"},
		{"text after the finish", [][]byte{finish, text}, "follows the finish"},
		{"two finishes", [][]byte{finish, finish}, "follows the finish"},
		{"a finish and an error", [][]byte{finish, failed}, "ends with one of them"},
		{"text after an error", [][]byte{failed, text}, "follows an error"},
		{"a finish made up", [][]byte{record(abi.RecordFinish, "done")}, `the finish is "done"`},
		{"kind 0", [][]byte{record(0, ""), finish}, "no record of kind 0"},
		{"reserved bytes", [][]byte{append([]byte{byte(abi.RecordText), 0, 1}, text[3:]...), finish}, "three zeros belong"},
		{"not UTF-8", [][]byte{record(abi.RecordText, "\xff"), finish}, "not UTF-8"},
		{"a gap", [][]byte{start(1, "id", "f"), finish}, "was opened as 1"},
		{"an id twice", [][]byte{start(0, "id", "f"), start(1, "id", "g"), finish}, "two tool calls"},
		{"no id", [][]byte{start(0, "", "f"), finish}, "needs both"},
		{"no name", [][]byte{start(0, "id", ""), finish}, "needs both"},
		{"no arguments", [][]byte{start(0, "id", "f"), calls}, "{} stands for none"},
		{"an extra that is a list", [][]byte{record(abi.RecordExtra, "[]"), finish}, "not a JSON object"},
		{"an extra that is null", [][]byte{record(abi.RecordExtra, "null"), finish}, "not a JSON object"},
		{"too much carry", [][]byte{record(abi.RecordCarry, strings.Repeat("c", abi.MaxCarry)), record(abi.RecordCarry, "c"), finish}, "the carry records"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := New()
			if err := a.Add(bytes.Join(tt.records, nil)); err != nil {
				t.Fatal(err)
			}
			a.End()
			if tt.want == "" && len(a.Broken) > 0 || tt.want != "" && (len(a.Broken) != 1 || !strings.Contains(a.Broken[0], tt.want)) {
				t.Errorf("broken: %q, want %q alone", a.Broken, tt.want)
			}
		})
	}
}

// TestUnreadable gives records that no host can read.
func TestUnreadable(t *testing.T) {
	for name, records := range map[string][]byte{
		"half a head":               {1, 0, 0},
		"half a payload":            abi.AppendRecord(nil, abi.RecordText, "hello")[:10],
		"a short tool start":        abi.AppendRecord(nil, abi.RecordToolStart, "abc"),
		"arguments of no call":      abi.AppendToolArguments(nil, 5, "{}"),
		"a short usage":             abi.AppendRecord(nil, abi.RecordUsage, "abc"),
		"an error that is not JSON": abi.AppendRecord(nil, abi.RecordError, "{"),
	} {
		if err := New().Add(records); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
