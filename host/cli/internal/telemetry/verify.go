package telemetry

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// verification is what POST /telemetry/verify answers.
type verification struct {
	Of       string
	Messages []message
	Request  string
}

func verifyCommand() *cobra.Command {
	return cmdutil.JSONFlag(addFlags(&cobra.Command{
		Use:   "verify",
		Short: "Have the next batch delivered to this command, and compare it with what show prints",
		Long: "Listen on this machine's loopback interface, have the host deliver its next batch there, and compare each byte with what\n" +
			"`parley telemetry show --raw` prints of it: what waits for delivery or, where nothing does, the window under way. Nothing is taken from the spool,\n" +
			"and the write key is not used. The host must run on this machine. Exit code 1 where a byte differs.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			got, err := startReceiver()
			if err != nil {
				return err
			}
			defer got.close()
			var said verification
			if err := cmdutil.CallHost(cmd, http.MethodPost, "/telemetry/verify", map[string]int{"port": got.port}, &said); err != nil {
				return err
			}
			select {
			case d := <-got.deliveries:
				return said.compare(cmd, d)
			case <-time.After(10 * time.Second):
				return fmt.Errorf("the host says that it delivered to port %d of the loopback interface, and nothing came: does it run on another machine, or in a container?", got.port)
			}
		},
	}))
}

// compare tells whether what came is what is shown.
func (v *verification) compare(cmd *cobra.Command, d received) error {
	if d.body != v.Request {
		return fmt.Errorf("what was delivered is not what is shown: %d bytes came, %d are shown, and they differ from byte %d on", len(d.body), len(v.Request), differAt(d.body, v.Request))
	}
	which := "what waits for delivery (show --pending --raw)"
	if v.Of == "next" {
		which = "the window under way (show --next --raw)"
	}
	var names []string
	for _, m := range v.Messages {
		names = append(names, m.Collector+" "+m.Version)
	}
	result := map[string]any{"same": true, "of": v.Of, "bytes": len(d.body), "messages": names, "request": d.line, "headers": d.headers}
	return cmdutil.PrintResult(cmd, result, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "the same: %d bytes of %s came as they are shown\nmessages  %s\nrequest   %s\nheaders   %s\n",
			len(d.body), which, strings.Join(names, ", "), d.line, strings.Join(d.headers, "; "))
		return err
	})
}

func differAt(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// received is one delivery.
type received struct {
	line, body string
	headers    []string
}

// A receiver takes deliveries on the loopback interface.
type receiver struct {
	port       int
	deliveries chan received
	server     *http.Server
}

func startReceiver() (*receiver, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for a delivery: %w", err)
	}
	r := &receiver{port: l.Addr().(*net.TCPAddr).Port, deliveries: make(chan received, 1)}
	r.server = &http.Server{Handler: r, ReadTimeout: 10 * time.Second}
	go func() { _ = r.server.Serve(l) }() // ends with close
	return r, nil
}

func (r *receiver) close() { _ = r.server.Close() }

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	b, err := io.ReadAll(io.LimitReader(req.Body, 16<<20))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	d := received{line: req.Method + " " + req.URL.Path, body: string(b)}
	for _, name := range []string{"Authorization", "Content-Type", "User-Agent"} {
		if v := req.Header.Get(name); v != "" {
			d.headers = append(d.headers, name+": "+v)
		}
	}
	select {
	case r.deliveries <- d:
	default: // only the first counts
	}
}
