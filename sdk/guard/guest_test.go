package guard

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// echo shows what it was given.
type echo struct{ in In }

func (e *echo) Check(in *In, out *Out) error { e.in = *in; out.State(in.State); return nil }

// TestVectors reads the contract's inputs.
func TestVectors(t *testing.T) {
	b, err := os.ReadFile("../../abi/testdata/vectors/guard-input.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Name string
			Hex  string
		}
	}
	if err := json.Unmarshal(b, &file); err != nil || len(file.Vectors) == 0 {
		t.Fatalf("read the vectors: %v, %d of them", err, len(file.Vectors))
	}
	for _, v := range file.Vectors {
		input, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		e := &echo{}
		if _, err := NewGuest(e).Check(input); err != nil {
			t.Errorf("%s: got %v", v.Name, err)
		}
		for n := range len(input) {
			if _, err := NewGuest(e).Check(input[:n]); err == nil {
				t.Errorf("%s, cut off at %d of %d bytes: got no error", v.Name, n, len(input))
			}
		}
	}
}

func TestOptionsThatAreNoJSON(t *testing.T) {
	for _, options := range []string{"{", `{"a":`, `{"a":"`, "\xff", `{"orders":"mark"`} {
		in := abi.AppendGuardInput(nil, abi.StageQuestion, abi.GuardFirst, []byte(options), nil, nil)
		if _, err := NewGuest(&echo{}).Check(in); err == nil {
			t.Errorf("options %q: got no error", options)
		}
	}
}

func TestAfterWord(t *testing.T) {
	e := &echo{}
	g := NewGuest(e)
	var state []byte
	say := func(stage string, flags byte, text string) bool {
		out, err := g.Check(abi.AppendGuardInput(nil, stage, flags, []byte("{}"), state, []Item{{Kind: abi.ItemAnswer, Text: []byte(text)}}))
		if err != nil {
			t.Fatal(err)
		}
		s, _, err := abi.GuardOutput(out)
		if err != nil {
			t.Fatal(err)
		}
		state = bytes.Clone(s)
		return e.in.AfterWord
	}
	for i, c := range []struct {
		stage string
		flags byte
		text  string
		want  bool
	}{
		{abi.StageAnswer, abi.GuardFirst, "wor", false},
		{abi.StageReasoning, abi.GuardFirst, "x", false},
		{abi.StageAnswer, 0, "d ", true},
		{abi.StageAnswer, 0, "", false},
		{abi.StageReasoning, 0, "y", true},
		{abi.StageAnswer, 0, "end", false},
		{abi.StageAnswer, abi.GuardFirst, "new", false},
	} {
		if got := say(c.stage, c.flags, c.text); got != c.want {
			t.Errorf("call %d, %q: it is behind a word: got %v, want %v", i, c.text, got, c.want)
		}
	}
}

func TestChecks(t *testing.T) {
	for number, want := range map[string]bool{"4111 1111 1111 1111": true, "4111-1111-1111-1112": false, "0": false, "79927398713": true} {
		if got := Luhn([]byte(number)); got != want {
			t.Errorf("Luhn of %s: got %v, want %v", number, got, want)
		}
	}
	if got := Mod97([]byte("3214282912345698765432161182")); got != 1 {
		t.Errorf("Mod97: got %d, want 1", got)
	}
}

// TestTableFull: what a table has no room for is masked without a number.
func TestTableFull(t *testing.T) {
	var table Table
	table.Load(nil)
	long := strings.Repeat("x", 30<<10)
	got := []string{table.Mask("EMAIL", long+"1"), table.Mask("EMAIL", long+"2"), table.Mask("EMAIL", "a"), table.Mask("EMAIL", long+"1")}
	if want := []string{"<EMAIL_1>", "<EMAIL>", "<EMAIL_2>", "<EMAIL_1>"}; strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("placeholders: got %q, want %q", got, want)
	}
	var again Table
	again.Load(table.State())
	if got := again.Mask("EMAIL", "a"); got != "<EMAIL_2>" {
		t.Errorf("of a table that was loaded: got %s, want <EMAIL_2>", got)
	}
	for n := range len(table.State()) {
		if n%977 == 0 {
			again.Load(table.State()[:n]) // whatever it is given, it must not panic
		}
	}
}
