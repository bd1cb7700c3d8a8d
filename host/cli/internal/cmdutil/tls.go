package cmdutil

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/spf13/pflag"

	"github.com/parley-search/parley/host/internal/setup/config"
)

// The flags of [TLSFlags].
const (
	flagCA         = "ca"
	flagClientCert = "client-cert"
	flagClientKey  = "client-key"
)

// TLSFlags gives f the flags by which a client trusts the service, and shows who it is.
func TLSFlags(f *pflag.FlagSet) {
	f.String(flagCA, "", "PEM file of the authorities that the service's certificate is checked by (default: those of the system)")
	f.String(flagClientCert, "", "PEM file of a certificate that the service asks for, its chain behind it")
	f.String(flagClientKey, "", "PEM file of that certificate's key")
}

// httpClient is what asks the service as the flags say; nil: as any client does. A service of this
// machine's configuration c is known by the very certificate that c names.
func httpClient(f *pflag.FlagSet, c config.Config) (*http.Client, error) {
	ca, _ := f.GetString(flagCA)
	cert, _ := f.GetString(flagClientCert)
	key, _ := f.GetString(flagClientKey)
	url, _ := f.GetString(FlagURL)
	own := url == "" && ca == "" && c.TLS.Cert != ""
	if ca == "" && cert == "" && key == "" && !own {
		return nil, nil
	}
	t := new(tls.Config)
	if (cert == "") != (key == "") {
		return nil, UsageError{Err: fmt.Errorf("--%s and --%s go together: one is missing", flagClientCert, flagClientKey)}
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, UsageError{Err: fmt.Errorf("--%s: %w", flagClientCert, err)}
		}
		t.Certificates = []tls.Certificate{pair}
	}
	if ca != "" {
		b, err := os.ReadFile(ca)
		if err != nil {
			return nil, UsageError{Err: fmt.Errorf("--%s: %w", flagCA, err)}
		}
		if t.RootCAs = x509.NewCertPool(); !t.RootCAs.AppendCertsFromPEM(b) {
			return nil, UsageError{Err: fmt.Errorf("--%s: %s holds no certificate in PEM", flagCA, ca)}
		}
	}
	if own {
		// The name in it is that of the service, and not of this machine's own address.
		t.InsecureSkipVerify = true
		t.VerifyConnection = func(s tls.ConnectionState) error { return isOwn(s, c.TLS.Cert) }
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = t
	return &http.Client{Transport: transport}, nil
}

// isOwn checks that the service has shown the certificate in a file.
func isOwn(s tls.ConnectionState, file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if block, _ := pem.Decode(b); block == nil || !bytes.Equal(block.Bytes, s.PeerCertificates[0].Raw) {
		return errors.New("the certificate there is not that of ssl-cert-path: say by --" + FlagURL + " which name the service has")
	}
	return nil
}
