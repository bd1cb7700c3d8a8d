package credential_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/egress/credential"
)

// TestTokenScheme exchanges secrets for tokens in the forms of several servers: a form, a
// JSON body, a header alone; with the time in seconds, as a text, as a moment, or unsaid.
func TestTokenScheme(t *testing.T) {
	var asked []string
	answer := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), body)))
		if status, rest, ok := strings.Cut(answer, "!"); ok {
			w.WriteHeader(map[string]int{"400": 400, "503": 503}[status])
			fmt.Fprint(w, rest)
			return
		}
		fmt.Fprintf(w, answer, len(asked))
	}))
	t.Cleanup(srv.Close)
	now := time.Now()
	for name, tt := range map[string]struct {
		request      abi.TokenRequest
		answer       string
		template     string
		header, want string
		asked        string
		renewed      time.Duration // by then
	}{
		"a form": {
			abi.TokenRequest{Form: map[string]string{"grant_type": "urn:ibm:params:oauth:grant-type:apikey", "apikey": "${secret}"}},
			`{"access_token":"token-%d","expires_in":3600,"expiration":1}`, `{"access_token":"{{token}}","expires_in":"{{seconds}}"}`, "", "Bearer token-1",
			"POST /t1/token application/x-www-form-urlencoded  apikey=" + canary + "&grant_type=urn%3Aibm%3Aparams%3Aoauth%3Agrant-type%3Aapikey", 56 * time.Minute,
		},
		"a JSON body": {
			abi.TokenRequest{JSON: abi.RawJSON(`{"user":{"name":"${client}","keys":["${secret}"]},"ttl":60}`)},
			`{"data":{"token":"token-%d","ttl":"600"}}`, `{"data":{"token":"{{token}}","ttl":"{{seconds}}"}}`, "X-Token", "token-1",
			`POST /t1/token application/json  {"ttl":60,"user":{"keys":["` + canary + `"],"name":"c1"}}`, 10 * time.Minute,
		},
		"a header": {
			abi.TokenRequest{Method: "GET", Headers: map[string]string{"Authorization": "token ${secret}"}},
			`{"token":"token-%d","expires_at":` + fmt.Sprint(now.Add(25*time.Minute).Unix()) + `}`, `{"token":"{{token}}","expires_at":"{{expires}}"}`, "", "Bearer token-1",
			"GET /t1/token  token " + canary, 25 * time.Minute,
		},
		"a moment": {
			abi.TokenRequest{},
			`["token-%d",{"until":"` + now.Add(time.Hour).UTC().Format(time.RFC3339) + `"}]`, `["{{token}}",{"until":"{{expires}}"}]`, "", "Bearer token-1",
			"POST /t1/token", time.Hour,
		},
		"no time": {abi.TokenRequest{}, `{"token":"token-%d"}`, `{"token":"{{token}}","in":"{{seconds}}"}`, "", "Bearer token-1", "POST /t1/token", 5 * time.Minute},
	} {
		asked, answer = nil, tt.answer
		clock := now
		s := credential.New(credential.Options{Transport: http.DefaultTransport, Now: func() time.Time { return clock }})
		a := &abi.Auth{Name: "iam", Scheme: abi.AuthToken, TokenURL: srv.URL + "/${tenant}/token", TokenRequest: tt.request, TokenAnswer: abi.RawJSON(tt.template), Header: tt.header}
		if tt.header != "" {
			a.Value = "${token}"
		}
		for range 2 { // the second one has the same token
			req, signed, err := sign(t, s, "https://x.example/", "{}", a, values())
			if got := req.Header.Get("Authorization") + req.Header.Get("X-Token"); err != nil || got != tt.want || signed.Drop == nil || len(signed.Secrets) != 1 || signed.Secrets[0] != "token-1" {
				t.Errorf("%s: %q, %+v, %v; want %q", name, got, signed, err, tt.want)
			}
		}
		if len(asked) != 1 || asked[0] != tt.asked {
			t.Errorf("%s: the server was asked %q, want %q once", name, asked, tt.asked)
		}
		clock = now.Add(tt.renewed)
		if _, _, err := sign(t, s, "https://x.example/", "{}", a, values()); err != nil || len(asked) != 2 {
			t.Errorf("%s: after %s asked %d times, %v; want another token", name, tt.renewed, len(asked), err)
		}
	}
	for says, want := range map[string]string{
		`400!{"errorCode":"BXNIM0415E","errorMessage":"the key ` + canary + ` is unknown"}`: "with status 400 and error BXNIM0415E",
		`400!` + canary: "with status 400",
		`503!`:          "with status 503",
		`{"token":""}`:  "its answer or the workspace's credentials cannot be read",
		`{"tok":"x"}`:   "its answer or the workspace's credentials cannot be read",
		`nonsense`:      "its answer or the workspace's credentials cannot be read",
	} {
		answer = says
		s := credential.New(credential.Options{Transport: http.DefaultTransport})
		a := &abi.Auth{Name: "iam", Scheme: abi.AuthToken, TokenURL: srv.URL + "/t", TokenRequest: abi.TokenRequest{Form: map[string]string{"k": "${secret}"}}, TokenAnswer: abi.RawJSON(`{"token":"{{token}}"}`)}
		if _, _, err := sign(t, s, "https://x.example/", "{}", a, values()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), canary) {
			t.Errorf("answered %s: %v, want an error with %q and no secret", says, err, want)
		}
	}
}

// TestHMAC: the first signature was made by openssl dgst -sha256 -hmac.
func TestHMAC(t *testing.T) {
	s := credential.New(credential.Options{Transport: nowhere{t}, Now: func() time.Time { return time.Unix(1700000000, 0) }})
	const url = "https://api.example:8443/v1/a%2Fb?x=1&y=2"
	a := &abi.Auth{
		Scheme: abi.AuthHMAC, Hash: "sha256", Key: "${secret}", Text: "${method}\n${host}\n${path}\n${query}\n${timestamp}\n${bodySha256}",
		Headers: map[string]string{"X-Signature": "${client}:${signature}", "X-Time": "${timestamp}"},
	}
	const hexSignature = "8656a6e3be34bd9798a661ca4b57a3797d569506f3ce1909e3e0bb31275b17d1"
	req, signed, err := sign(t, s, url, `{"a":1}`, a, values())
	if got := req.Header.Get("X-Signature"); err != nil || got != "c1:"+hexSignature || req.Header.Get("X-Time") != "1700000000" || len(signed.Secrets) != 1 || signed.Secrets[0] != hexSignature {
		t.Errorf("signed %q, %+v, %v; want %s", got, signed, err, hexSignature)
	}
	a.Hash, a.Encoding, a.Text = "sha512", "base64", "${body}|${date}|${path}|${query}"
	req, _, err = sign(t, s, "https://api.example", "", a, values())
	if got := req.Header.Get("X-Signature"); err != nil || got != "c1:XgIu2e2aRAr1P7CLt4qFdlb3HZqCY1JAuZgnXWhQtgEIOk3YbQiE1gAJv/N21Al6i9OqIVstHODSJC/BORrRvA==" {
		t.Errorf("signed %q, %v", got, err)
	}
	a.Hash, a.Encoding, a.Text = "sha256", "hex", "${method}\n${host}\n${path}\n${query}\n${timestamp}\n${bodySha256}"
	binary := base64.StdEncoding.EncodeToString([]byte(canary))
	for encoding, keys := range map[string][]string{
		"":       {canary},
		"hex":    {hex.EncodeToString([]byte(canary)), strings.ToUpper(hex.EncodeToString([]byte(canary))) + "\n"},
		"base64": {binary, strings.TrimRight(binary, "="), base64.URLEncoding.EncodeToString([]byte(canary)) + "\n"},
	} {
		for _, key := range keys {
			a.KeyEncoding = encoding
			v := values()
			v["secret"] = key
			req, _, err := sign(t, s, url, `{"a":1}`, a, v)
			if err != nil || req.Header.Get("X-Signature") != "c1:"+hexSignature {
				t.Errorf("a key in %q: signed %q, %v; want %s", encoding, req.Header.Get("X-Signature"), err, hexSignature)
			}
		}
		for _, key := range []string{"!" + canary, " "} {
			v := values()
			v["secret"] = key
			if _, _, err := sign(t, s, url, "", a, v); encoding != "" && (err == nil || strings.Contains(err.Error(), canary)) {
				t.Errorf("a key that is not %s: %v, want an error without it", encoding, err)
			}
		}
	}
	a.KeyEncoding = ""
	a.Headers["X-Nonce"] = "${nonce}"
	first, _, err := sign(t, s, url, "", a, values())
	second, _, err2 := sign(t, s, url, "", a, values())
	if x, y := first.Header.Get("X-Nonce"), second.Header.Get("X-Nonce"); err != nil || err2 != nil || len(x) < 20 || x == y {
		t.Errorf("nonces %q and %q, %v, %v; want two that differ", x, y, err, err2)
	}
	if _, _, err := sign(t, s, url, "", a, values(), "X-Time", "own"); err == nil {
		t.Error("a plugin's own header was sent")
	}
	delete(a.Headers, "X-Nonce")
	v := values()
	delete(v, "secret")
	if _, _, err := sign(t, s, url, "", a, v); err == nil {
		t.Error("signed without a key")
	}
}

func TestJWT(t *testing.T) {
	now := time.Unix(1700000000, 0)
	s := credential.New(credential.Options{Transport: nowhere{t}, Now: func() time.Time { return now }})
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	inPEM := func(key any) string {
		b, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b}))
	}
	for algorithm, key := range map[string]struct {
		secret string
		public any
	}{"HS256": {canary, []byte(canary)}, "RS256": {inPEM(rsaKey), &rsaKey.PublicKey}, "ES256": {inPEM(ecKey), &ecKey.PublicKey}} {
		a := &abi.Auth{Scheme: abi.AuthJWT, Algorithm: algorithm, Key: "${secret}", KeyID: "${client?}", Seconds: 300, Claims: map[string]string{"iss": "${client}", "nbf_text": "${now}", "aud": "llm"}}
		v := values()
		v["secret"] = key.secret
		req, signed, err := sign(t, s, "https://x.example/", "{}", a, v)
		if err != nil {
			t.Errorf("%s: %v", algorithm, err)
			continue
		}
		parsed, err := jwt.Parse(token(req), func(*jwt.Token) (any, error) { return key.public, nil }, jwt.WithValidMethods([]string{algorithm}), jwt.WithTimeFunc(func() time.Time { return now }), jwt.WithAudience("llm"), jwt.WithIssuer("c1"), jwt.WithExpirationRequired())
		if err != nil || parsed.Header["kid"] != "c1" || parsed.Claims.(jwt.MapClaims)["nbf_text"] != "1700000000" || parsed.Claims.(jwt.MapClaims)["exp"] != 1700000300.0 || signed.Secrets[0] != token(req) {
			t.Errorf("%s: %+v, %v; want a token of c1 for 300 s", algorithm, parsed, err)
		}
		v["secret"] = "no key in PEM " + canary
		if _, _, err := sign(t, s, "https://x.example/", "{}", a, v); (err == nil) != (algorithm == "HS256") || err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%s with a wrong key: %v, want an error without it", algorithm, err)
		}
	}
}

// TestBasicOtherWord: some servers want the pair under another word or header.
func TestBasicOtherWord(t *testing.T) {
	s := credential.New(credential.Options{Transport: nowhere{t}})
	a := &abi.Auth{Scheme: abi.AuthBasic, Username: "${client}", Password: "${tenant}", Value: "ZenApiKey ${pair}"}
	if req, _, err := sign(t, s, "https://x.example/", "{}", a, values()); err != nil || req.Header.Get("Authorization") != "ZenApiKey YzE6dDE=" {
		t.Errorf("signed %q, %v", req.Header.Get("Authorization"), err)
	}
}
