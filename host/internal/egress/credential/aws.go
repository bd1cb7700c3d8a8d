package credential

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// signAWS signs by Signature Version 4. The library signs every header that it
// sees, and a proxy may change some: it is shown those that matter.
func (s *Signer) signAWS(ctx context.Context, req *http.Request, body []byte, a *abi.Auth, f *filled) (outbound.Signed, error) {
	keys := aws.Credentials{
		AccessKeyID:     f.text("accessKeyId", a.AccessKeyID),
		SecretAccessKey: f.text("secretAccessKey", a.SecretAccessKey),
		SessionToken:    f.text("sessionToken", a.SessionToken),
	}
	region := f.text("region", a.Region)
	if err := f.check(); err != nil {
		return outbound.Signed{}, err
	}
	for _, name := range []string{"Authorization", "X-Amz-Date", "X-Amz-Security-Token"} {
		if err := absent(req, name); err != nil {
			return outbound.Signed{}, err
		}
	}
	if !isFieldValue(keys.AccessKeyID + region + keys.SessionToken) {
		return outbound.Signed{}, unusable("accessKeyId, region or sessionToken of the workspace holds a control character, which no header can carry; set it again")
	}
	shown := req.Clone(ctx)
	shown.Header = http.Header{}
	for name, values := range req.Header {
		if name == "Content-Type" || strings.HasPrefix(name, "X-Amz-") {
			shown.Header[name] = values
		}
	}
	before := len(shown.Header)
	sum := sha256.Sum256(body)
	// A signer of its own: the library's keeps the key that it derives by the id of
	// the access key alone, and would sign for anyone who names the id of another
	// workspace, or has changed the secret.
	if err := v4.NewSigner().SignHTTP(ctx, keys, shown, hex.EncodeToString(sum[:]), a.Service, region, s.now()); err != nil {
		return outbound.Signed{}, &outbound.Error{Kind: outbound.Refused, Message: "the request cannot be signed with the workspace's keys", Err: errors.New("sign by Signature Version 4")}
	}
	for name, values := range shown.Header {
		req.Header[name] = values
	}
	if len(shown.Header) == before {
		return outbound.Signed{}, refused("the request was not signed")
	}
	_, signature, _ := strings.Cut(req.Header.Get("Authorization"), "Signature=")
	return outbound.Signed{Secrets: []string{signature}}, nil
}
