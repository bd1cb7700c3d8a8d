package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/task"
	"github.com/parley-search/parley/host/internal/task/webhook"
)

// kept is a [webhook.Store] in memory.
type kept map[string]webhook.Hook

func (k kept) Webhooks(context.Context) (map[string]webhook.Hook, error) { return maps.Clone(k), nil }

func (k kept) UpdateWebhooks(_ context.Context, f func(map[string]webhook.Hook) (map[string]webhook.Hook, error)) error {
	now, err := f(maps.Clone(k))
	if err == nil {
		clear(k)
		maps.Copy(k, now)
	}
	return err
}

type nobody struct{}

func (nobody) Post(context.Context, []byte) error { return nil }
func (nobody) Close() error                       { return nil }

func open(t *testing.T, k kept) *webhook.Service {
	t.Helper()
	s, err := webhook.Open(t.Context(), webhook.Options{
		Store: k, Post: func(webhook.Hook) (webhook.Poster, error) { return nobody{}, nil },
		Render: func(*task.Task) ([]byte, error) { return []byte("{}"), nil }, Failed: func(uid string, err error) { t.Error(uid, err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestTooMany(t *testing.T) {
	s := open(t, kept{})
	for i := range 21 {
		_, err := s.Create(t.Context(), fmt.Appendf(nil, `{"url":"https://example.com/%d"}`, i))
		if e, _ := errors.AsType[*apierr.Error](err); (i == 20) != (e != nil && e.Code == apierr.InvalidWebhooks) {
			t.Errorf("webhook %d: %v", i+1, err)
		}
	}
}

func TestHeaders(t *testing.T) {
	const uid = "9c1b2f30-5e1e-4a0f-8a3e-0d7d0c1f2a3b"
	old := webhook.Hook{URL: "https://a.example/x", Headers: map[string]secret.Text{"A": secret.New("first secret of all")}}
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprintf(`"H%d":""`, i)
	}
	for _, tt := range []struct{ name, body, want, says string }{
		{"kept", `{"url":"https://a.example/y"}`, "A=first secret of all", ""},
		{"sent back", `{"headers":{"A":"fiXXXX..."}}`, "A=first secret of all", ""},
		{"added", `{"headers":{"B":""}}`, "A=first secret of all B=", ""},
		{"taken away", `{"headers":{"A":null}}`, "", ""},
		{"all taken away", `{"headers":null}`, "", ""},
		{"elsewhere", `{"url":"https://b.example/x"}`, "", ""},
		{"elsewhere, sent anew", `{"url":"http://a.example/x","headers":{"A":"new"}}`, "A=new", ""},
		{"elsewhere, as shown", `{"url":"https://b.example/x","headers":{"A":"fiXXXX..."}}`, "", "a value as it is shown"},
		{"shown of another", `{"headers":{"B":"fiXXXX..."}}`, "", "a value as it is shown"},
		{"of the message", `{"headers":{"content-ENCODING":"x"}}`, "", "not the name of a header"},
		{"two lines", `{"headers":{"A":"a\r\nB: c"}}`, "", "a text of one line"},
		{"too many", `{"headers":{` + strings.Join(many, ",") + `}}`, "", "201 headers"},
		{"a user", `{"url":"https://geheim@a.example"}`, "", "without user"},
		{"not a URL", `{"url":null}`, "", "`url` is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := kept{uid: old}
			_, err := open(t, k).Update(t.Context(), uid, []byte(tt.body))
			if tt.says != "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "geheim") {
					t.Errorf("error %v, want one that says %s", err, tt.says)
				}
				return
			}
			var got []string
			for _, name := range []string{"A", "B"} {
				if v, ok := k[uid].Headers[name]; ok {
					got = append(got, name+"="+v.Reveal())
				}
			}
			if s := strings.Join(got, " "); err != nil || s != tt.want {
				t.Errorf("headers %q, %v; want %q", s, err, tt.want)
			}
		})
	}
}
