package plugin

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi/response"
)

// vectors reads the vectors of a file of package abi.
func vectors[T any](t *testing.T, file string) []T {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "abi", "testdata", "vectors", file))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Vectors []T }
	if err := json.Unmarshal(b, &f); err != nil || len(f.Vectors) == 0 {
		t.Fatalf("read %s: %d vectors, %v", file, len(f.Vectors), err)
	}
	return f.Vectors
}

func TestVectorsSelfTestAnswers(t *testing.T) {
	for _, v := range vectors[struct {
		Name           string
		Output, Answer json.RawMessage
		Wrong          string
	}](t, "self-test-answers.json") {
		err := compare(v.Output, v.Answer)
		if (v.Wrong == "") != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), v.Wrong+": want ") {
			t.Errorf("%s: %v, want wrong %q", v.Name, err, v.Wrong)
		}
	}
}

func TestVectorsSelfTestDecode(t *testing.T) {
	for _, v := range vectors[struct {
		Name, Records string
		Whole         json.RawMessage
	}](t, "self-test-decode.json") {
		records, err := hex.DecodeString(v.Records)
		if err != nil {
			t.Fatal(err)
		}
		a := response.New()
		if err := a.Add(records); err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
		if err := compare(v.Whole, newAnswered(a)); err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
	}
}
