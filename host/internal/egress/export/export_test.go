package export

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

const all = `{"url":"http://there.example/api/","apiKey":"` + key + `","payloadSize":1024,"indexes":{"*":{},"notes":{"filter":"even = 0","overrideSettings":true}}}`

func TestExport(t *testing.T) {
	r := newRig(t, Options{}, all)
	r.side.settings["notes"] = "its own"
	if strings.Contains(string(r.work.Details), key) {
		t.Errorf("the task's details show the key: %s", r.work.Details)
	}
	details, err := r.process(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.side.base != "http://there.example/api" || r.side.key != key {
		t.Errorf("the other side is asked at %s with the key %q", r.side.base, r.side.key)
	}
	for uid, want := range map[string]int{"films": 300, "notes": 50} {
		if got := r.side.ids[uid]; len(got) != want || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != want {
			t.Errorf("%s: %d documents, want %d, each once and in order", uid, len(got), want)
		}
		if got, want := r.side.settings[uid], fmt.Sprintf(`{"of":%q}`, uid); got != want {
			t.Errorf("%s: settings %s, want %s", uid, got, want)
		}
	}
	if most := slices.Max(r.side.parts); most > 1024/len(`{"id":"0000"}`) {
		t.Errorf("a request has %d documents, which is more than the payload holds", most)
	}
	if got := strings.Join(r.side.requests[:6], ", "); got != "GET /indexes/empty, POST /indexes, PATCH /indexes/empty/settings, GET /indexes/films, POST /indexes, PATCH /indexes/films/settings" {
		t.Errorf("requests began with %s; want settings before documents", got)
	}
	want := `{"apiKey":"a kXXXXX...","embeddersWithoutApiKey":["films/default"],"indexes":{` +
		`"*":{"filter":null,"overrideSettings":false,"matchedDocuments":300},` +
		`"notes":{"filter":"even = 0","overrideSettings":true,"matchedDocuments":50}},` +
		`"payloadSize":"1.0 KiB","url":"http://there.example/api"}`
	if details != want {
		t.Errorf("details = %s\nwant      %s", details, want)
	}
}

// An index that is there keeps its settings unless the pattern says otherwise;
// one that tells documents apart by another field is left alone.
func TestIndexThere(t *testing.T) {
	r := newRig(t, Options{}, `{"url":"http://there.example","indexes":{"films":null}}`)
	r.side.settings["films"] = "its own"
	if _, err := r.process(t.Context()); err != nil || r.side.settings["films"] != "its own" || len(r.side.settings) != 1 || len(r.side.ids["films"]) != 300 {
		t.Errorf("error %v; the other side has %d documents and the settings %v", err, len(r.side.ids["films"]), r.side.settings)
	}
	r = newRig(t, Options{}, `{"url":"http://there.example","indexes":{"films":{}}}`)
	r.side.trouble = func(int) (Answer, error) { return Answer{Status: 200, Body: []byte(`{"primaryKey":"isbn"}`)}, nil }
	if _, err := r.process(t.Context()); err == nil || !strings.Contains(err.Error(), "`isbn`") || len(r.side.requests) != 1 {
		t.Errorf("error %v after %v, want one that names both fields, and no document sent", err, r.side.requests)
	}
}

// Whatever request the host ends at, whether the other side took it or not: the
// next life goes on there. At most that one request is sent twice.
func TestResume(t *testing.T) {
	whole := newRig(t, Options{}, all)
	if _, err := whole.process(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range whole.side.requests {
		for _, taken := range []bool{false, true} {
			r := newRig(t, Options{}, all)
			ctx, end := context.WithCancel(t.Context())
			r.side.trouble = func(now int) (Answer, error) {
				if now == n {
					end()
					if !taken {
						return Answer{}, context.Canceled
					}
				}
				return Answer{}, nil
			}
			if _, err := r.process(ctx); !errors.Is(err, context.Canceled) {
				t.Fatalf("ended at request %d: %v", n, err)
			}
			before := len(r.side.requests)
			if _, err := r.process(t.Context()); err != nil {
				t.Errorf("ended at request %d, and going on: %v", n, err)
			}
			// What settles an index is three requests, and may all come again.
			if again := len(r.side.requests) - len(whole.side.requests); again > 3 || before > n+1 {
				t.Errorf("ended at request %d: %d requests more than without that", n, again)
			}
			for uid, ids := range whole.side.ids {
				slices.Sort(r.side.ids[uid])
				if got := slices.Compact(r.side.ids[uid]); !slices.Equal(got, ids) {
					t.Errorf("ended at request %d: %d documents of %s, want %d", n, len(got), uid, len(ids))
				}
				if r.side.settings[uid] != whole.side.settings[uid] {
					t.Errorf("ended at request %d: settings of %s are %s", n, uid, r.side.settings[uid])
				}
			}
		}
	}
}

// A network that comes back is waited for; one that does not is, in the end, an
// error that says how far it was.
func TestTrouble(t *testing.T) {
	broken := &outbound.Error{Kind: outbound.Broken, Message: "x"}
	for name, tt := range map[string]struct {
		answer Answer
		err    error
		want   string // in the error, once the trouble does not end
		tries  bool   // it is asked again
	}{
		"hung up":        {err: broken, want: "remote_could_not_send_request: The other instance was not reached; the host's log has the cause", tries: true},
		"unreachable":    {err: &outbound.Error{Kind: outbound.Connect, Message: "it is not told", Retryable: true}, want: "was not reached; the host's log has the cause", tries: true},
		"no trust":       {err: &outbound.Error{Kind: outbound.Connect, Message: "it is not told"}, want: "was not reached; the host's log has the cause"},
		"slow":           {err: &outbound.Error{Kind: outbound.Timeout}, want: "remote_timeout", tries: true},
		"metadata":       {err: &outbound.Error{Kind: outbound.Refused, Message: "it is at a metadata address"}, want: "metadata address"},
		"busy":           {answer: Answer{Status: 503, Body: []byte(`{"code":"no_space"}`)}, want: "remote_remote_error: The other instance answers 503, no_space", tries: true},
		"too many":       {answer: Answer{Status: 429}, want: "answers 429", tries: true},
		"refused key":    {answer: Answer{Status: 403, Body: []byte(`{"code":"invalid_api_key"}`)}, want: "remote_invalid_api_key: The other instance refuses the `apiKey` (403, invalid_api_key)"},
		"too large":      {answer: Answer{Status: 413}, want: "smaller `payloadSize`"},
		"refused":        {answer: Answer{Status: 400, Body: []byte(`{"code":"<script>"}`)}, want: "remote_bad_request: The other instance refuses what it was sent (400)"},
		"redirect":       {answer: Answer{Status: 307}, want: "remote_bad_response: The other instance answers 307"},
		"not of our API": {answer: Answer{Status: 200, Body: []byte("<html>")}, want: "remote_bad_response"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // a clock of its own, which moves when nothing else does
				r := newRig(t, Options{Pause: time.Second, Patience: time.Minute}, all)
				r.side.trouble = func(int) (Answer, error) { return tt.answer, tt.err }
				_, err := r.process(t.Context())
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), key) {
					t.Errorf("error %v, want %q in it and not the key", err, tt.want)
				}
				if again := len(r.side.requests) > 1; again != tt.tries {
					t.Errorf("%d requests, want more than one: %v", len(r.side.requests), tt.tries)
				}
				if !tt.tries {
					return
				}
				r = newRig(t, Options{Pause: time.Second, Patience: time.Minute}, all)
				r.side.trouble = func(n int) (Answer, error) {
					if n%3 != 0 {
						return tt.answer, tt.err
					}
					return Answer{}, nil
				}
				if _, err := r.process(t.Context()); err != nil || len(r.side.ids["films"]) != 300 {
					t.Errorf("with trouble that ends: %v, %d documents", err, len(r.side.ids["films"]))
				}
			})
		})
	}
}

func TestTaskRefused(t *testing.T) {
	svc := New(Options{Sealer: plain{}})
	for _, tt := range []struct{ body, code, says string }{
		{`{}`, "invalid_export_url", "https://search.example.com"},
		{`{"url":"ftp://a"}`, "invalid_export_url", "http or https"},
		{`{"url":"http://me:geheim@a"}`, "invalid_export_url", "without user"},
		{`{"url":"http://a?x=geheim"}`, "invalid_export_url", "query"},
		{`{"url":"http://a","apiKey":"geheim\n"}`, "invalid_export_api_key", "header"},
		{`{"url":"http://a","payloadSize":"lots"}`, "invalid_export_payload_size", `"lots"`},
		{`{"url":"http://a","payloadSize":1}`, "invalid_export_payload_size", "from 1.0 KiB to 256 MiB"},
		{`{"url":"http://a","indexes":{"a b":{}}}`, "invalid_export_indexes_patterns", `"a b"`},
		{`{"url":"http://a","indexes":[]}`, "invalid_export_indexes_patterns", "indexes"},
		{`{"url":"http://a","indexes":{"a":{"filter":"x ="}}}`, "invalid_export_index_filter", "`indexes.a.filter`"},
		{`{"url":"http://a","indexes":{"a":{"overrideSettings":1}}}`, "invalid_export_index_override_settings", "overrideSettings"},
		{`{"url":"http://a","index":{}}`, "bad_request", "did you mean `indexes`?"},
	} {
		_, err := svc.Task([]byte(tt.body))
		if e := apierr.From(err); err == nil || e.Code.String() != tt.code || !strings.Contains(e.Message, tt.says) || strings.Contains(e.Message, "geheim") {
			t.Errorf("Task(%s) = %v, want %s with %q and no secret", tt.body, err, tt.code, tt.says)
		}
	}
}
