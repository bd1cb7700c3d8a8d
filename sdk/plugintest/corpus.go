package plugintest

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/parley-search/parley/abi/response"
)

// readFolder reads a case that is a folder of case.json, response.body and
// perhaps request.json.
func readFolder(dir string) (response.Case, error) {
	var c response.Case
	head, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err != nil {
		return c, fmt.Errorf("read case: %w", err)
	}
	body, err := os.ReadFile(filepath.Join(dir, "response.body"))
	if err != nil {
		return c, fmt.Errorf("read case: %w", err)
	}
	if c, err = response.NewCase(filepath.Base(dir), head, body); err != nil {
		return c, fmt.Errorf("read case %s: %w", dir, err)
	}
	if c.Request, err = os.ReadFile(filepath.Join(dir, "request.json")); err != nil && !os.IsNotExist(err) {
		return c, fmt.Errorf("read case: %w", err)
	}
	return c, nil
}

// corpusDir finds the recordings of a source beside the repository, or says
// why it cannot.
func corpusDir(source string) (string, error) {
	dir := os.Getenv("CORPUS")
	if dir == "" {
		root, err := os.Getwd()
		if err != nil {
			return "", err
		}
		for !fileExists(filepath.Join(root, "go.mod")) {
			if root == filepath.Dir(root) {
				return "", fmt.Errorf("no go.mod above the working directory")
			}
			root = filepath.Dir(root)
		}
		dir = filepath.Join(root, "..", "shared", "corpus")
	}
	dir = filepath.Join(dir, source)
	if !fileExists(dir) {
		return "", fmt.Errorf("no recordings at %s; set CORPUS to where they are", dir)
	}
	return dir, nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// ReadCorpus reads the recordings of a source, which lie in ../shared/corpus
// from the repository's root or where CORPUS says.
func ReadCorpus(source string) ([]response.Case, error) {
	dir, err := corpusDir(source)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read corpus: %w", err)
	}
	var cases []response.Case
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		c, err := readFolder(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}
