package conformance

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
)

// subjectModule is testdata/subject.wat with the rule that mode stands for
// broken; "0" breaks none. More pairs of texts of the same length are put in
// place of each other.
func subjectModule(t testing.TB, mode, manifest string, replace ...string) []byte {
	t.Helper()
	return guestModule(t, "subject", mode, manifest, replace...)
}

func guestModule(t testing.TB, name, mode, manifest string, replace ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".wasm"))
	if err != nil {
		t.Fatal(err)
	}
	for pair := range slices.Chunk(append([]string{"0mode", mode + "mode"}, replace...), 2) {
		if !bytes.Contains(b, []byte(pair[0])) || len(pair[0]) != len(pair[1]) {
			t.Fatalf("%q cannot stand in place of %q", pair[1], pair[0])
		}
		b = bytes.Replace(b, []byte(pair[0]), []byte(pair[1]), 1)
	}
	if b, err = abi.WithSection(b, abi.SectionManifest, []byte(manifest)); err != nil {
		t.Fatal(err)
	}
	return b
}

const goodManifest = `{"abi":1,"kind":"provider","name":"subject","version":"1.0.0","source":"subject"}`

// failures names the checks that failed.
func failures(r *Report) (names []string) {
	for _, c := range r.Checks {
		if c.Result == Failed {
			names = append(names, c.Check)
		}
	}
	return names
}

func check1(t *testing.T, module []byte, o Options) *Report {
	t.Helper()
	o.CallTimeout = 20 * time.Second // the machine may be slow
	if o.Calls == 0 {
		o.Calls = 400
	}
	r, err := Check(t.Context(), module, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCheck breaks each rule of the contract and sees that the check of that
// rule notices.
func TestCheck(t *testing.T) {
	reply := `{"reply":"hello"}                              `
	pad := func(s string) string { return s + strings.Repeat(" ", len(reply)-len(s)) }
	sends := pad(`{"url":"https://x.example/"}`)
	tests := []struct {
		name, mode string
		manifest   string
		replace    []string
		want       []string // the checks that fail
		detail     string   // in the first one's
	}{
		{name: "nothing wrong", mode: "0"},
		{name: "no manifest", mode: "0", manifest: "{}", want: []string{"manifest"}, detail: "the manifest is wrong"},
		{name: "another kind of plugin", mode: "0", replace: []string{"parley_decode", "parley_decodx"}, want: []string{"exports"}, detail: "lacks the export parley_decode"},
		{name: "another version", mode: "0", manifest: strings.Replace(goodManifest, `"abi":1`, `"abi":2`, 1), want: []string{"abi"}, detail: "parley_abi says 1 and the manifest 2"},
		{name: "refuses a region", mode: "R", want: []string{"input region", "large input"}, detail: "it gave no region for"},
		{name: "moves the region", mode: "M", want: []string{"input region"}, detail: "after regions of"},
		{name: "traps on nothing", mode: "T", want: []string{"empty input"}, detail: "trap in parley_encode"},
		{name: "traps on much", mode: "L", want: []string{"garbage", "large input"}, detail: "trap in parley_encode"},
		{name: "not JSON", mode: "E", want: []string{"error", "determinism", "later versions", "memory"}, detail: "want a JSON object"},
		{name: "follows any length", mode: "G", want: []string{"garbage"}, detail: "trap in parley_decode"},
		{name: "refuses new flags", mode: "F", want: []string{"later versions"}, detail: "a flag of a later version"},
		{name: "takes more and more", mode: "W", want: []string{"memory"}, detail: "over three quarters of its limit"},
		{name: "slower and slower", mode: "S", want: []string{"memory"}, detail: "calls become slower"},
		{name: "a large state", mode: "X", detail: "its state is not whole or over", want: []string{"decode", "determinism", "statelessness", "grouping", "later versions", "vectors", "empty input", "garbage", "large input", "state", "memory"}},
		{name: "reserved bytes", mode: "Z", detail: "three zeros belong", want: []string{"decode", "determinism", "statelessness", "grouping", "state", "memory"}},
		{name: "keeps count", mode: "K", want: []string{"determinism", "statelessness", "later versions"}, detail: "called again"},
		{name: "never finishes", mode: "N", want: []string{"decode"}, detail: "neither a finish nor an error"},
		{name: "text after the finish", mode: "D", want: []string{"decode"}, detail: "follows the finish"},
		{name: "goes where it may not", mode: "0", replace: []string{reply, sends}, want: []string{"encode", "empty response"}, detail: "the plugin asked for https://x.example:443, which it has no grant for"},
		{
			name: "a key in the url", mode: "0", replace: []string{reply, pad(`{"url":"https://x.example/${apiKey}"}`)},
			manifest: strings.Replace(goodManifest, "}", `,"grants":{"http":["https://x.example"]}}`, 1), want: []string{"encode", "empty response"}, detail: "the plugin put a placeholder in the URL",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			manifest := tt.manifest
			if manifest == "" {
				manifest = goodManifest
			}
			r := check1(t, subjectModule(t, tt.mode, manifest, tt.replace...), Options{})
			got := failures(r)
			// A rule that is broken may show elsewhere, too, but never only there.
			for _, want := range tt.want {
				if !slices.Contains(got, want) {
					t.Errorf("failed: %q, want %q among them", got, want)
				}
			}
			if len(tt.want) == 0 && len(got) > 0 {
				t.Errorf("failed: %q, want none\n%s", got, details(r))
			}
			if r.Passed != (len(got) == 0) {
				t.Errorf("Passed = %v with %d failures", r.Passed, len(got))
			}
			if len(got) > 0 && !strings.Contains(details(r), tt.detail) {
				t.Errorf("details:\n%swant %q in them", details(r), tt.detail)
			}
			for _, c := range r.Checks {
				if (c.Result == Failed) != (c.Remedy != "") {
					t.Errorf("check %s is %s and has the remedy %q", c.Check, c.Result, c.Remedy)
				}
			}
		})
	}
}

func details(r *Report) string {
	var b strings.Builder
	for _, c := range r.Checks {
		if c.Result == Failed {
			b.WriteString(c.Check + ": " + c.Detail + "\n")
		}
	}
	return b.String()
}

func TestCheckCases(t *testing.T) {
	cases := func(expected string) []response.Case {
		return []response.Case{{Name: "one", Kind: "stream", Status: 200, Expected: json.RawMessage(expected), Body: []byte("data: a\n\n")}}
	}
	module := subjectModule(t, "0", goodManifest)
	if r := check1(t, module, Options{Cases: cases(`{"text":"hello","finish_reason":"stop","error":null}`)}); !r.Passed {
		t.Errorf("a case that is met failed:\n%s", details(r))
	}
	// A guest that reads an older input finds it overwritten.
	if r := check1(t, subjectModule(t, "V", goodManifest), Options{Cases: cases(`{"text":"hello"}`)}); !strings.Contains(details(r), `\xfd\xfd`) {
		t.Errorf("a guest that keeps inputs: %s\nwant the bytes that were written over them", details(r))
	}
	r := check1(t, module, Options{Cases: cases(`{"text":"hallo"}`)})
	if want := `case one: text is "hello", want "hallo"`; !strings.Contains(details(r), want) {
		t.Errorf("a case that is not met: %s\nwant %s", details(r), want)
	}
}

// TestCheckPatterns: a guest that says of any string that it is text, and makes
// nothing of it, and one whose pattern is none.
func TestCheckPatterns(t *testing.T) {
	c := response.Case{Name: "one", Kind: "stream", Status: 200, Expected: json.RawMessage("{}"), Body: []byte("data: 1\n\ndata: \"two\"\n\n")}
	for _, tt := range []struct {
		name    string
		replace []string
		detail  string
	}{
		{"another text", nil, `patterns: one comes to`},
		{"no quotes", []string{"\x01\x00\x00\x00\"\"", "\x01\x00\x00\x00''"}, ": its pattern: malformed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := check1(t, subjectModule(t, "P", goodManifest, tt.replace...), Options{Cases: []response.Case{c}})
			if got := failures(r); !slices.Equal(got, []string{"patterns"}) || !strings.Contains(details(r), tt.detail) {
				t.Errorf("failed: %q, with\n%swant patterns alone, with %q", got, details(r), tt.detail)
			}
		})
	}
}

// TestCheckNoModule gives bytes that are no module at all, and a module that is no plugin:
// each is told what it lacks, and no more is checked.
func TestCheckNoModule(t *testing.T) {
	for text, want := range map[string]string{"": "module", "hello": "module", "\x00asm\x0d\x00\x01\x00": "module", "\x00asm\x01\x00\x00\x00": "manifest"} {
		r := check1(t, []byte(text), Options{})
		last := r.Checks[len(r.Checks)-1]
		if r.Passed || last.Check != want || last.Result != Failed || strings.Contains(last.Remedy, "manifest.json") != (want == "manifest") {
			t.Errorf("Check(%q): passed %v, the last check is %+v, want %s failed", text, r.Passed, last, want)
		}
	}
}

func TestReport(t *testing.T) {
	r := check1(t, subjectModule(t, "D", goodManifest), Options{})
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"subject 1.0.0 (provider, ABI 1), 2 KiB", "\nexports         ok       6 exports\n", "\ndecode          failed   see below\n", "\ndecode failed: ", "\n  What to do: "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("table has no %q:\n%s", want, &b)
		}
	}
	// A fault that ends several checks is told once.
	b.Reset()
	if err := check1(t, subjectModule(t, "Z", goodManifest), Options{}).WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "a reply of its own: a record of kind 1 has"); n != 1 || !strings.Contains(b.String(), "\nstatelessness   failed   for the same reason as decode\n") {
		t.Errorf("the reason of several checks stands %d times in\n%s", n, &b)
	}
}

func TestMeasure(t *testing.T) {
	module := subjectModule(t, "0", goodManifest)
	for _, body := range [][]byte{nil, []byte("data: a\n\ndata: b\n\n")} {
		f, err := Measure(t.Context(), module, body, Options{CallTimeout: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Calls) != 3 || f.Size != len(module) || f.Limiter != "metered" || f.Memory == 0 {
			t.Errorf("Measure = %+v, want the size, three calls, metered, and some memory", f)
		}
		for _, c := range f.Calls {
			if c.NS <= 0 || c.Fuel <= 0 || c.Bytes <= 0 {
				t.Errorf("cost %+v, want time, fuel and bytes", c)
			}
		}
	}
	if _, err := Measure(t.Context(), module, []byte("nothing"), Options{}); err == nil {
		t.Error("Measure took a body without events")
	}
}

// TestCheckUnknownForm skips, with a reason, the check of a plugin that makes text of
// none of the forms that the kit knows; responses of its self-test are among those
// that it is tried with.
func TestCheckUnknownForm(t *testing.T) {
	reply, sends := `{"reply":"hello"}                              `, `{"url":"https://x.example/"}`
	more := `,"grants":{"http":["https://x.example"]}`
	selfTest := `,"selfTest":[{"call":"decode","input":{"events":[{"data":"own"}]},"output":{"reasoning":"hello"}}]`
	decode := func(more string) (result, detail string) {
		t.Helper()
		module := subjectModule(t, "0", strings.Replace(goodManifest, "}", more+"}", 1), reply, sends+strings.Repeat(" ", len(reply)-len(sends)),
			"\x01\x00\x00\x00\x05\x00\x00\x00hello", "\x02\x00\x00\x00\x05\x00\x00\x00hello") // reasoning in place of text
		for _, c := range check1(t, module, Options{}).Checks {
			if (c.Check == "self-test" || c.Check == "state" || c.Check == "memory") && c.Result == Failed {
				t.Errorf("%s: %s; want none failed of what is not known to be wrong", c.Check, c.Detail)
			}
			if c.Check == "decode" {
				result, detail = c.Result, c.Detail
			}
		}
		return result, detail
	}
	for added, manifest := range []string{more, more + selfTest} {
		want := fmt.Sprintf("%d streams came to their ends, and none to text", len(shapes())+added)
		if result, detail := decode(manifest); result != Skipped || !strings.Contains(detail, want) || !strings.Contains(detail, "--cases") {
			t.Errorf("decode of a plugin of another form is %s: %s, want it skipped: %s", result, detail, want)
		}
	}
}

// TestAdvice: what to do is that for the kind of failure, whichever check met it.
func TestAdvice(t *testing.T) {
	for _, tt := range []struct{ mode, export, advice string }{
		{"T", "parley_encode", "look at the length"},
		{"R", "parley_input", "Let `parley_input` return a region"},
		{"E", "parley_error", "section Error"},
		{"X", "parley_decode", "section Decode"},
	} {
		r := check1(t, subjectModule(t, tt.mode, goodManifest), Options{})
		for _, c := range r.Checks {
			if c.Result == Failed && strings.Contains(c.Detail, tt.export) && !strings.Contains(c.Remedy, tt.advice) {
				t.Errorf("mode %s, check %s: %s\nis told %q, want %q in it", tt.mode, c.Check, c.Detail, c.Remedy, tt.advice)
			}
		}
		causes := 0
		for _, c := range r.Checks {
			if c.Result == Failed && c.SameAs == "" {
				causes++
			}
		}
		if causes != 1 {
			t.Errorf("mode %s: %d causes, want one:\n%s", tt.mode, causes, details(r))
		}
		if len(r.Fuel) == 0 {
			t.Errorf("mode %s: no fuel in the report", tt.mode)
		}
	}
}

// TestCompare: what two modules make of the same inputs, and what they spend.
func TestCompare(t *testing.T) {
	old := subjectModule(t, "0", goodManifest)
	report := check1(t, old, Options{})
	o := Options{CallTimeout: 20 * time.Second, Calls: 400}
	same, err := Compare(t.Context(), old, old, report, o)
	if err != nil || len(same.Changes) != 0 || same.OldSize != same.Size || len(same.OldFuel) != len(report.Fuel) {
		t.Errorf("a module against itself: %+v, %v, want no change", same, err)
	}
	changed := subjectModule(t, "0", goodManifest, "\x05\x00\x00\x00hello", "\x05\x00\x00\x00hallo")
	report = check1(t, changed, Options{})
	if report.Against, err = Compare(t.Context(), old, changed, report, o); err != nil || len(report.Against.Changes) == 0 {
		t.Fatalf("a module with another text: %+v, %v, want changes", report.Against, err)
	}
	var b strings.Builder
	if err := report.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nagainst subject 1.0.0\n", "\nfuel of parley_decode ", ", a reply of its own\n  was ", "hello", "hallo"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table has no %q:\n%s", want, &b)
		}
	}
}

func TestJUnit(t *testing.T) {
	r := check1(t, subjectModule(t, "D", goodManifest), Options{})
	var b bytes.Buffer
	if err := r.WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
			} `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(b.Bytes(), &suite); err != nil {
		t.Fatal(err)
	}
	if suite.Tests != len(r.Checks) || suite.Failures != len(failures(r)) || len(suite.Cases) != len(r.Checks) {
		t.Errorf("report %s\nwant %d checks, %d of them failed", &b, len(r.Checks), len(failures(r)))
	}
	for i, c := range suite.Cases {
		if (c.Failure != nil) != (r.Checks[i].Result == Failed) || c.Failure != nil && c.Failure.Message != r.Checks[i].Detail {
			t.Errorf("case %s: %+v, want it as the check is: %+v", c.Name, c.Failure, r.Checks[i])
		}
	}
}
