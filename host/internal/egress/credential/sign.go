package credential

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"hash"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

var hashes = map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}

// mayBeEmpty are the names of parts that a request need not have.
var mayBeEmpty = strings.NewReplacer("${query}", "${query?}", "${body}", "${body?}")

// signHMAC signs the text that a makes of the request as it is sent, and sets the headers
// that have the signature.
func (s *Signer) signHMAC(req *http.Request, body []byte, a *abi.Auth, f *filled) (outbound.Signed, error) {
	sum, nonce, now := sha256.Sum256(body), rand.Text(), s.now().UTC()
	f.with(map[string]string{
		"method": req.Method, "host": req.URL.Host, "path": cmp.Or(req.URL.EscapedPath(), "/"), "query": req.URL.RawQuery,
		"body": string(body), "bodySha256": hex.EncodeToString(sum[:]),
		"timestamp": strconv.FormatInt(now.Unix(), 10), "date": now.Format(http.TimeFormat), "nonce": nonce,
	})
	hasher, ok := hashes[a.Hash]
	if !ok {
		return outbound.Signed{}, refused("the plugin's auth names the hash %.20q, which this host does not have", a.Hash)
	}
	text := f.text("text", mayBeEmpty.Replace(a.Text))
	mac := hmac.New(hasher, []byte(f.text("key", a.Key)))
	mac.Write([]byte(text))
	signature := hex.EncodeToString(mac.Sum(nil))
	if a.Encoding == "base64" {
		signature = base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	f.with(map[string]string{"signature": signature})
	var signed outbound.Signed
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		one, err := f.setHeader(req, name, f.text("headers", a.Headers[name]), signature)
		if err != nil {
			return outbound.Signed{}, err
		}
		signed = one
	}
	return signed, nil
}

// signJWT sets the header that has a token which the host signs itself.
func (s *Signer) signJWT(req *http.Request, a *abi.Auth, f *filled) (outbound.Signed, error) {
	now := s.now()
	expires := now.Add(time.Duration(a.Seconds) * time.Second)
	f.with(map[string]string{"now": strconv.FormatInt(now.Unix(), 10), "expires": strconv.FormatInt(expires.Unix(), 10)})
	claims := map[string]any{"iat": now.Unix(), "exp": expires.Unix()}
	for _, name := range slices.Sorted(maps.Keys(a.Claims)) {
		claims[name] = f.text("claims", a.Claims[name])
	}
	header := map[string]string{"alg": a.Algorithm, "typ": "JWT"}
	if id := f.text("keyId", a.KeyID); id != "" {
		header["kid"] = id
	}
	secret := f.text("key", a.Key)
	if err := f.check(); err != nil {
		return outbound.Signed{}, err
	}
	head, _ := json.Marshal(header) // of texts and numbers
	body, _ := json.Marshal(claims)
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body)
	signature, err := signText(a.Algorithm, secret, text)
	if err != nil {
		return outbound.Signed{}, unusable("the workspace's key cannot sign by %s: set the text of a private key in PEM that is made for it", a.Algorithm)
	}
	return f.setToken(req, a, text+"."+base64.RawURLEncoding.EncodeToString(signature))
}

// signText signs by an algorithm of RFC 7518 with a key: a text, or a private key in PEM.
func signText(algorithm, key, text string) ([]byte, error) {
	if algorithm == "HS256" {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(text))
		return mac.Sum(nil), nil
	}
	private, err := privateKey(key)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(text))
	switch k := private.(type) {
	case *rsa.PrivateKey:
		if algorithm == "RS256" {
			return rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
		}
	case *ecdsa.PrivateKey:
		if algorithm == "ES256" && k.Curve == elliptic.P256() {
			r, s, err := ecdsa.Sign(rand.Reader, k, sum[:])
			if err != nil {
				return nil, err
			}
			signature := make([]byte, 64)
			r.FillBytes(signature[:32])
			s.FillBytes(signature[32:])
			return signature, nil
		}
	}
	return nil, errors.New("the key is of another kind")
}

// privateKey reads a private key in PEM, in any of its forms.
func privateKey(text string) (any, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("the key is not PEM")
	}
	if k, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		return k, nil
	}
	if k, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return k, nil
	}
	return x509.ParseECPrivateKey(block.Bytes)
}
