package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/parley-search/parley/host/e2e/house"
)

// The keys that the server of TestSignedExample knows.
const signedID, signedSecret = "AKIDEXAMPLE", "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLE"

var signedHeaders = regexp.MustCompile(`SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$`)

// checkSignature signs a request that came anew, and compares.
func checkSignature(r *http.Request, body []byte) error {
	said := signedHeaders.FindStringSubmatch(r.Header.Get("Authorization"))
	if said == nil {
		return fmt.Errorf("no signature in %q", r.Header.Get("Authorization"))
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return err
	}
	own, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+r.Host+r.URL.RequestURI(), strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(said[1], ";") {
		if v := r.Header.Get(name); v != "" && name != "x-amz-date" {
			own.Header.Set(name, v)
		}
	}
	sum := sha256.Sum256(body)
	keys := aws.Credentials{AccessKeyID: signedID, SecretAccessKey: signedSecret}
	if err := v4.NewSigner().SignHTTP(r.Context(), keys, own, hex.EncodeToString(sum[:]), "llm", "eu-west-1", at); err != nil {
		return err
	}
	if got, want := r.Header.Get("Authorization"), own.Header.Get("Authorization"); got != want {
		return fmt.Errorf("signed as\n%s, want\n%s", got, want)
	}
	return nil
}

// TestSignedExample runs the example whose requests the host signs, against a server
// that refuses a wrong signature.
func TestSignedExample(t *testing.T) {
	t.Parallel()
	module := house.Built(t, filepath.Join("examples", "provider-signed"))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := checkSignature(r, body); err != nil {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"error":{"message":%q}}`, err)
			return
		}
		switch r.URL.EscapedPath() {
		case "/models/m%3A1/answer":
			fmt.Fprint(w, "{\"text\": \"signed \"}\n{\"text\": \"and read\"}\n{\"done\": \"stop\", \"tokens\": [9, 4]}\n")
		case "/models/vectors-1/vectors":
			n := strings.Count(string(body), `sea`)
			fmt.Fprintf(w, `{"vectors": [[%d, 1]]}`, n)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(srv.Close)
	h := house.Open(t, map[string]string{"allow-private-networks": "127.0.0.1"}, module)
	options := fmt.Sprintf(`"options":{"region":"eu-west-1","accessKeyId":%q,"secretAccessKey":%q}`, signedID, signedSecret)
	h.Must("PATCH", "/chats/signed/settings", fmt.Sprintf(`{"source":"signed","baseUrl":%q,%s}`, srv.URL, options))
	if r, _ := h.Ask("signed", "m:1"); r.Status != 200 || !strings.Contains(r.Body, "signed ") || !strings.Contains(r.Body, "and read") {
		t.Errorf("answered %d %s", r.Status, r.Body)
	}
	h.Finish(h.Must("PATCH", "/indexes/films/settings", fmt.Sprintf(`{"embedders":{"e":{"source":"signed","url":%q,%s,"documentTemplate":"{{doc.t}}"}}}`, srv.URL, options)))
	h.Finish(h.Must("POST", "/indexes/films/documents", `[{"id":1,"t":"the sea"}]`))
	if r := h.Must("POST", "/indexes/films/search", `{"q":"sea","hybrid":{"embedder":"e","semanticRatio":1}}`); !strings.Contains(r.Body, `"id":1`) {
		t.Errorf("found %s", r.Body)
	}
	// With another key the server refuses, and its word for it comes through.
	h.Must("PATCH", "/chats/signed/settings", `{"options":{"secretAccessKey":"another-secret-key"}}`)
	if r, _ := h.Ask("signed", "m:1"); r.Status != 502 || !strings.Contains(r.Body, "llm_provider_unauthorized") {
		t.Errorf("with a wrong key: %d %s", r.Status, r.Body)
	}
	h.CheckSecret(signedSecret, "eu-west-1")
}
