package telemetry

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/cmd/parley/internal/cli"
)

// viewWindows is how many windows the page shows.
const viewWindows = 24

func viewCommand() *cobra.Command {
	return addFlags(&cobra.Command{
		Use:   "view",
		Short: "Show the last windows as charts, on a page that only this machine can open",
		Long: "Serve a page on this machine's loopback interface, under an address with a secret in it, until interrupted: status, the last windows as charts\n" +
			"with their tables, the next batch, what waits, and the deliveries. It is the same that the other commands print. The page is one piece,\n" +
			"runs no script and loads nothing from anywhere.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ask := func(path string, into any) error { return cli.AskHost(cmd, path, into) }
			if _, err := readOverview(ask); err != nil {
				return err // rather at once than in the page
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return fmt.Errorf("serve the page: %w", err)
			}
			v := &viewer{ask: ask, host: l.Addr().String(), secret: rand.Text()}
			server := &http.Server{Handler: v, ReadTimeout: 10 * time.Second}
			done := make(chan struct{})
			go func() {
				defer close(done)
				<-cmd.Context().Done()
				_ = server.Close()
			}()
			fmt.Fprintf(cmd.OutOrStdout(), "http://%s/%s/\n", v.host, v.secret)
			fmt.Fprintln(cmd.ErrOrStderr(), "parley: open it in a browser of this machine; serving until interrupted")
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve the page: %w", err)
			}
			<-done
			return cmd.Context().Err()
		},
	})
}

// readOverview asks the host for all that the page shows.
func readOverview(ask func(path string, into any) error) (*overview, error) {
	var s overview
	var metrics struct{ Results []metric }
	var next, pending messageList
	var windows struct{ Results []window }
	var deliveries struct{ Results []delivery }
	for _, q := range []struct {
		path string
		into any
	}{
		{"/telemetry", &s.status},
		{"/telemetry/metrics", &metrics},
		{"/telemetry/messages?of=next", &next},
		{"/telemetry/messages?of=pending", &pending},
		{fmt.Sprintf("/telemetry/windows?limit=%d", viewWindows), &windows},
		{"/telemetry/deliveries", &deliveries},
	} {
		if err := ask(q.path, q.into); err != nil {
			return nil, err
		}
	}
	s.metrics, s.next, s.pending, s.windows, s.deliveries = metrics.Results, next.Results, pending.Results, windows.Results, deliveries.Results
	return &s, nil
}

// A viewer serves the page to whoever knows its secret.
type viewer struct {
	ask    func(path string, into any) error
	host   string // that a browser has to ask for: a page elsewhere cannot make it ask for that under another name
	secret string
}

func (v *viewer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Host != v.host || subtle.ConstantTimeCompare([]byte(strings.Trim(r.URL.Path, "/")), []byte(v.secret)) != 1 {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	nonce := rand.Text()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+nonce+"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	var page bytes.Buffer
	s, err := readOverview(v.ask)
	if err == nil {
		err = s.write(&page, nonce, time.Now())
	}
	if err != nil {
		http.Error(w, "parley telemetry view: "+err.Error(), http.StatusBadGateway)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, _ = page.WriteTo(w) // who has left reads nothing
}
