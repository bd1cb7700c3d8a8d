package cli

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// moduleFor is no more of a provider plugin than a manifest.
func moduleFor(source string) []byte {
	section := binary.AppendUvarint(nil, uint64(len(abi.SectionManifest)))
	section = append(section, abi.SectionManifest...)
	section = fmt.Appendf(section, `{"abi":%d,"kind":"provider","name":"p-%s","version":"1.0.0","source":%q}`, abi.Version, strings.ToLower(source), source)
	module := []byte("\x00asm\x01\x00\x00\x00\x00")
	module = binary.AppendUvarint(module, uint64(len(section)))
	return append(module, section...)
}

// TestReplaySources checks that a source without a plugin is answered with
// those that there are.
func TestReplaySources(t *testing.T) {
	dir := t.TempDir()
	body := filepath.Join(dir, "body")
	if err := os.WriteFile(body, []byte("data: {}\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(want string) {
		t.Helper()
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"plugin", "replay", "--source", "openai", "--plugin-dir", dir, body}, &out, &errs)
		if code != exitFailed || !strings.Contains(errs.String(), want) || !strings.Contains(errs.String(), "--plugin-dir") {
			t.Errorf("code %d, stderr %q; want code %d and %q", code, &errs, exitFailed, want)
		}
	}
	check(`"openai" (here are: none)`)
	for i, source := range []string{"vLlm", "openAi", "vLlm"} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.wasm", i)), moduleFor(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check(`"openai" (here are: openAi, vLlm)`)
}

// TestReplayBrokenRule: what a plugin makes of a response against the contract is an
// error, beside the result.
func TestReplayBrokenRule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	module, err := os.ReadFile(filepath.Join(root(t), "host", "internal", "plugin", "conformance", "testdata", "subject.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	module = bytes.Replace(module, []byte("0mode"), []byte("Nmode"), 1) // it never finishes
	module, err = abi.WithSection(module, abi.SectionManifest, []byte(`{"abi":1,"kind":"provider","name":"subject","version":"1.0.0","source":"subject"}`))
	if err != nil {
		t.Fatal(err)
	}
	body := filepath.Join(dir, "body")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "subject-1.0.0.wasm"), module, 0o600), os.WriteFile(body, []byte("data: a\n\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"plugin", "replay", "--source", "subject", "--plugin-dir", dir, body}, &out, &errs)
	if code != exitFailed || !strings.Contains(out.String(), `"text":"hello"`) || !strings.Contains(errs.String(), "neither a finish nor an error") {
		t.Errorf("replay: code %d, printed %s and %s, want code %d, the text, and what is missing", code, &out, &errs, exitFailed)
	}
}
