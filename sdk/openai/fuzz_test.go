package openai

import (
	"reflect"
	"testing"

	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/sdk/plugintest"
)

// FuzzDecode holds any body to what no stream may do, and the decoder with
// patterns to the one that reads every event in full.
func FuzzDecode(f *testing.F) {
	cases, err := response.ReadCases("testdata")
	if err != nil {
		f.Fatal(err)
	}
	for _, source := range []string{"openAi", "vLlm", "other", "azureOpenAi", "mistral"} {
		if recorded, err := plugintest.ReadCorpus(source); err == nil {
			cases = append(cases, recorded...)
		}
	}
	for _, c := range cases {
		if c.Kind == "stream" && len(c.Body) < 8<<10 {
			f.Add(c.Body)
		}
	}
	fast, full := plugintest.New(&plain{}), plugintest.New(&plain{Decoder: Decoder{full: true}})
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := fast.Run(body)
		if err != nil {
			t.Fatal(err)
		}
		want, err := full.Run(body)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Aggregate, want.Aggregate) {
			t.Errorf("with patterns %+v, read in full %+v", got.Aggregate, want.Aggregate)
		}
		if len(got.Broken) > 0 {
			t.Error(got.Broken)
		}
		if (got.FinishReason == nil) == (got.Error == nil) {
			t.Errorf("finish %v and error %v, want one of them", got.FinishReason, got.Error)
		}
	})
}

// FuzzError holds any error body to the kinds that the host knows.
func FuzzError(f *testing.F) {
	cases, err := response.ReadCases("testdata")
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		if c.Kind == "error" {
			f.Add(c.Status, c.Headers["retry-after"], c.Body)
		}
	}
	d := plugintest.New(&plain{})
	f.Fuzz(func(t *testing.T, status int, retry string, body []byte) {
		got, err := d.Fail(response.Case{Status: status, Headers: map[string]string{"retry-after": retry}, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		if got.Kind == "" || got.RetryAfterMS != nil && (*got.RetryAfterMS <= 0 || *got.RetryAfterMS > maxRetry) {
			t.Errorf("Fail = %+v", got)
		}
	})
}
