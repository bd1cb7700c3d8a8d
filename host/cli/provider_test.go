package cli

import (
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/parley-search/parley/cmd/parley/bench"
)

// A madeUp is a provider on loopback whose answers are made up.
type madeUp struct {
	bench.Provider
	url string // its baseUrl, in OpenAI's form
}

// newProvider serves until the test ends.
func newProvider(t testing.TB) *madeUp {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &madeUp{url: fmt.Sprintf("http://%s/v1", ln.Addr())}
	srv := &http.Server{Handler: p}
	go srv.Serve(ln) // ends with Close
	t.Cleanup(func() { srv.Close() })
	return p
}
