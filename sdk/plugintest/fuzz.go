package plugintest

import (
	"testing"

	"github.com/parley-search/parley/abi/response"
)

// FuzzStream holds any body of a stream to what no stream may do. The seeds are
// the cases in testdata, and the recordings of a source where they are at hand.
func FuzzStream(f *testing.F, d *Driver, source string) {
	for _, c := range readSeeds(f, source) {
		if c.Kind == "stream" && len(c.Body) < 8<<10 {
			f.Add(c.Body)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := d.Run(body)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Broken) > 0 {
			t.Error(s.Broken)
		}
	})
}

// FuzzFailure is [FuzzStream] for any response that is not a success.
func FuzzFailure(f *testing.F, d *Driver, source string) {
	for _, c := range readSeeds(f, source) {
		if c.Kind == "error" {
			f.Add(c.Status, c.Headers["retry-after"], c.Body)
		}
	}
	f.Fuzz(func(t *testing.T, status int, retry string, body []byte) {
		got, err := d.Fail(response.Case{Status: status, Headers: map[string]string{"retry-after": retry}, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		if got.Kind == "" || got.RetryAfterMS != nil && *got.RetryAfterMS <= 0 {
			t.Errorf("Fail = %+v", got)
		}
	})
}

func readSeeds(f *testing.F, source string) []response.Case {
	f.Helper()
	cases, err := response.ReadCases("testdata")
	if err != nil {
		f.Fatal(err)
	}
	if recorded, err := ReadCorpus(source); err == nil {
		cases = append(cases, recorded...)
	}
	return cases
}
