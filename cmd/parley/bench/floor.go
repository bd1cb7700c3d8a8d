package bench

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Floor returns the least that a gateway in Go can be: it copies a request to
// the server at base and the answer back, byte by byte as it comes, and reads
// nothing of either.
func Floor(base string) http.Handler {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096, DisableCompression: true}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Read first: the server closes a body that is still read once the
		// answer has begun.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		req, err := http.NewRequestWithContext(r.Context(), r.Method, base+r.URL.RequestURI(), bytes.NewReader(body))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		req.Header = r.Header.Clone()
		res, err := client.Do(req)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		for name, values := range res.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(res.StatusCode)
		if err := copyFlushed(w, res.Body); err != nil {
			panic(http.ErrAbortHandler) // an answer that was cut must not look whole
		}
	})
}

func copyFlushed(w http.ResponseWriter, from io.Reader) error {
	flush := http.NewResponseController(w)
	b := make([]byte, 16<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			if _, err := w.Write(b[:n]); err != nil {
				return err
			}
			if err := flush.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
