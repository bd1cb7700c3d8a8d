package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// An endless provider says one word after the other for as long as it is asked.
type endless struct{ words int }

func (e endless) Do(context.Context, *outbound.Request) (outbound.Response, error) {
	return &flood{left: e.words}, nil
}

type flood struct{ left int }

func (f *flood) Status() int         { return http.StatusOK }
func (f *flood) Header() http.Header { return nil }
func (f *flood) Body(int64) []byte   { return nil }
func (f *flood) Close() error        { return nil }

var (
	word = []abi.Event{{Data: []byte("text:word")}}
	stop = []abi.Event{{Data: []byte("finish:stop")}}
)

func (f *flood) Next() ([]abi.Event, error) {
	f.left--
	switch {
	case f.left > 0:
		return word, nil
	case f.left == 0:
		return stop, nil
	}
	return nil, io.EOF
}

// One chunk of an answer from the (fake) provider to a client on loopback, each
// flushed for itself: chat, the writing here, the socket, and the client.
func BenchmarkStreamChunk(b *testing.B) {
	r := newRig(b, wish{upstream: endless{b.N + 1}})
	req, err := http.NewRequest("POST", r.url+completions, strings.NewReader(hello))
	check(b, err)
	req.Header.Set("Authorization", "Bearer "+master)
	req.Header.Set("Content-Type", "application/json")
	b.ReportAllocs()
	b.ResetTimer()
	res, err := r.client.Do(req)
	check(b, err)
	_, err = io.Copy(io.Discard, res.Body)
	check(b, err)
	_ = res.Body.Close()
}

// One whole request with a key, answered from memory.
func BenchmarkRequest(b *testing.B) {
	r := newRig(b, wish{})
	key := r.key([]string{"*"}, []string{"*"})
	req, err := http.NewRequest("GET", r.url+"/version", nil)
	check(b, err)
	req.Header.Set("Authorization", "Bearer "+key)
	b.ReportAllocs()
	for b.Loop() {
		res, err := r.client.Do(req)
		check(b, err)
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
}
