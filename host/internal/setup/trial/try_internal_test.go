package trial

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// TestDescribeRecord has a line for each kind of record, and for one of a newer host.
func TestDescribeRecord(t *testing.T) {
	for want, b := range map[string][]byte{
		`text "a b"`:                        abi.AppendRecord(nil, abi.RecordText, "a\nb"),
		`finish "stop"`:                     abi.AppendRecord(nil, abi.RecordFinish, "stop"),
		"tool 1 starts: f, id c":            abi.AppendToolStart(nil, 1, "c", "f"),
		`tool 1 arguments "{"`:              abi.AppendToolArguments(nil, 1, "{"),
		`response id "r", model "m"`:        abi.AppendResponse(nil, "r", "m"),
		"carry 3 bytes":                     abi.AppendRecord(nil, abi.RecordCarry, "abc"),
		"again after 5 ms, or called off":   abi.AppendAgain(nil, abi.Again{AfterMS: 5, Cancel: true}),
		"a record of kind 99, which this":   abi.AppendRecord(nil, 99, ""),
		"usage 1 prompt, 2 completion, 3 t": abi.AppendUsage(nil, abi.Usage{Prompt: 1, Completion: 2, Total: 3}, nil),
	} {
		r, _, _, err := abi.NextRecord(b)
		if got := describeRecord(r); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("kind %d: %q, %v; want %q", r.Kind, got, err, want)
		}
	}
	if got := cut(strings.Repeat("é", 2000)); len(got) > 2050 || !strings.HasSuffix(got, "… (4000 bytes)") {
		t.Errorf("a long text is cut to %d bytes, ending in %q", len(got), got[len(got)-20:])
	}
}

// TestWorkspaceOf reads a workspace's settings, options and secrets from the command line.
func TestWorkspaceOf(t *testing.T) {
	m := &abi.Manifest{Source: "s", Options: map[string]abi.Option{
		"region": {Type: abi.OptionString, Pattern: "[a-z]+"}, "size": {Type: abi.OptionInteger}, "token": {Type: abi.OptionString, Secret: true},
	}}
	w, err := workspaceOf(m, map[string]string{"apiKey": "k", "baseUrl": "https://x.example", "region": "eu", "size": "7", "token": "t"})
	if err != nil || w.APIKey.Reveal() != "k" || w.BaseURL != "https://x.example" || string(w.Options["region"]) != `"eu"` || string(w.Options["size"]) != "7" || w.OptionSecrets["token"].Reveal() != "t" {
		t.Errorf("workspace = %+v, %v", w, err)
	}
	for name, value := range map[string]string{"region": "EU", "size": "many", "nope": "x"} {
		if _, err := workspaceOf(m, map[string]string{name: value}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v, want an error that names it", name, value, err)
		}
	}
}
