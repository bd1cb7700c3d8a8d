package plugintest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Case is a recorded or written response with what it must come to.
type Case struct {
	Name     string
	Source   string            `json:"source"`
	Kind     string            `json:"kind"` // stream or error
	Status   int               `json:"status"`
	Headers  map[string]string `json:"response_headers"`
	Features []string          `json:"features"`
	Expected json.RawMessage   `json:"expected"`
	Body     []byte            `json:"-"`
	Request  []byte            `json:"-"` // the body of the request, where it was recorded
}

// ReadCase reads a case that is one file: a JSON object with kind, status,
// response_headers and expected; a line of three dashes; the body, to the
// byte.
func ReadCase(file string) (Case, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return Case{}, fmt.Errorf("read case: %w", err)
	}
	head, body, ok := bytes.Cut(b, []byte("\n---\n"))
	if !ok {
		return Case{}, fmt.Errorf("read case %s: no line of three dashes", file)
	}
	c := Case{Name: strings.TrimSuffix(filepath.Base(file), ".case"), Body: body, Status: 200}
	if err := json.Unmarshal(head, &c); err != nil {
		return Case{}, fmt.Errorf("read case %s: %w", file, err)
	}
	return c, nil
}

// ReadFolder reads a case that is a folder of case.json, response.body and
// perhaps request.json.
func ReadFolder(dir string) (Case, error) {
	c := Case{Name: filepath.Base(dir)}
	b, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err != nil {
		return c, fmt.Errorf("read case: %w", err)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("read case %s: %w", dir, err)
	}
	if c.Body, err = os.ReadFile(filepath.Join(dir, "response.body")); err != nil {
		return c, fmt.Errorf("read case: %w", err)
	}
	if c.Request, err = os.ReadFile(filepath.Join(dir, "request.json")); err != nil && !os.IsNotExist(err) {
		return c, fmt.Errorf("read case: %w", err)
	}
	return c, nil
}

// ReadCases reads the *.case files of a folder.
func ReadCases(dir string) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.case"))
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, file := range files {
		c, err := ReadCase(file)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
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
		for !exists(filepath.Join(root, "go.mod")) {
			if root == filepath.Dir(root) {
				return "", fmt.Errorf("no go.mod above the working directory")
			}
			root = filepath.Dir(root)
		}
		dir = filepath.Join(root, "..", "shared", "corpus")
	}
	dir = filepath.Join(dir, source)
	if !exists(dir) {
		return "", fmt.Errorf("no recordings at %s; set CORPUS to where they are", dir)
	}
	return dir, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// ReadCorpus reads the recordings of a source, which lie in ../shared/corpus
// from the repository's root or where CORPUS says.
func ReadCorpus(source string) ([]Case, error) {
	dir, err := corpusDir(source)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read corpus: %w", err)
	}
	var cases []Case
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		c, err := ReadFolder(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}
