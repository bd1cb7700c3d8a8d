package credential

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

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
	key, err := f.key(a)
	if err != nil {
		return outbound.Signed{}, err
	}
	mac := hmac.New(hasher, key)
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
	claims := jwt.MapClaims{"iat": now.Unix(), "exp": expires.Unix()}
	for _, name := range slices.Sorted(maps.Keys(a.Claims)) {
		claims[name] = f.text("claims", a.Claims[name])
	}
	method := jwt.GetSigningMethod(a.Algorithm)
	if method == nil {
		return outbound.Signed{}, refused("the plugin's auth names the algorithm %.20q, which this host does not have", a.Algorithm)
	}
	unsigned := jwt.NewWithClaims(method, claims)
	if id := f.text("keyId", a.KeyID); id != "" {
		unsigned.Header["kid"] = id
	}
	secret, err := f.key(a)
	if err != nil {
		return outbound.Signed{}, err
	}
	key, err := signingKey(method, secret)
	var token string
	if err == nil {
		token, err = unsigned.SignedString(key)
	}
	if err != nil { // which is not repeated: it may be of the key
		return outbound.Signed{}, unusable("the workspace's key cannot sign by %s: set the text of a private key in PEM that is made for it", a.Algorithm)
	}
	return f.setToken(req, a, token)
}

// key returns the bytes of the key that a names, which is text unless a says otherwise.
func (f *filled) key(a *abi.Auth) (key []byte, err error) {
	text := f.text("key", a.Key)
	if err := f.check(); err != nil {
		return nil, err
	}
	switch a.KeyEncoding {
	case "hex":
		key, err = hex.DecodeString(strings.TrimSpace(text))
	case "base64": // of either alphabet, padded or not
		text = strings.TrimRight(strings.TrimSpace(text), "=")
		key, err = base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(text))
	default:
		return []byte(text), nil
	}
	if err != nil || len(key) == 0 { // which is not repeated: it may be of the key
		return nil, unusable("the workspace's key is not written in %s: set it as the provider shows it", a.KeyEncoding)
	}
	return key, nil
}

// signingKey reads a key for a method: a private key in PEM, or for HMAC any bytes.
func signingKey(method jwt.SigningMethod, key []byte) (any, error) {
	switch method.(type) {
	case *jwt.SigningMethodRSA:
		return jwt.ParseRSAPrivateKeyFromPEM(key)
	case *jwt.SigningMethodECDSA:
		return jwt.ParseECPrivateKeyFromPEM(key)
	}
	return key, nil
}
