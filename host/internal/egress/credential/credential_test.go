package credential_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/egress/credential"
)

// sign signs a request to url with the header Content-Type and others.
func sign(t *testing.T, s *credential.Signer, url, body string, a *abi.Auth, values map[string]string, headers ...string) (*http.Request, outbound.Signed, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "parley")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	signed, err := s.Sign(t.Context(), req, []byte(body), &outbound.Request{
		Workspace: "w", Plugin: "p 1.0.0", Credential: &outbound.Credential{Auth: a, Values: values},
	})
	return req, signed, err
}

// nowhere is a transport of schemes that ask nobody.
type nowhere struct{ t *testing.T }

func (n nowhere) RoundTrip(*http.Request) (*http.Response, error) {
	n.t.Error("a token server was asked")
	return nil, errors.New("nowhere")
}

func TestSimpleSchemes(t *testing.T) {
	s := credential.New(credential.Options{Transport: nowhere{t}})
	values := map[string]string{"apiKey": "sk a&b", "user": "me", "bad": "a\nb", "colon": "a:b"}
	for _, tt := range []struct {
		name    string
		a       *abi.Auth
		headers []string
		want    string // of Authorization and the URL
		err     string
		secrets []string
	}{
		{"none", nil, nil, " https://x.example/a?b=c", "", nil},
		{"header", &abi.Auth{Scheme: abi.AuthHeader, Header: "authorization", Value: "Key ${user}/${apiKey}${none?}"}, nil, "Key me/sk a&b https://x.example/a?b=c", "", nil},
		{"query", &abi.Auth{Scheme: abi.AuthQuery, Parameter: "k", Value: "${apiKey}"}, nil, " https://x.example/a?b=c&k=sk+a%26b", "", nil},
		{"basic", &abi.Auth{Scheme: abi.AuthBasic, Username: "${user}", Password: "${apiKey}"}, nil, "Basic bWU6c2sgYSZi https://x.example/a?b=c", "", []string{"bWU6c2sgYSZi"}},
		{"a header of the plugin's", &abi.Auth{Scheme: abi.AuthHeader, Header: "X-Key", Value: "v"}, []string{"x-key", "own"}, "", "which its auth in the manifest has the host set", nil},
		{"a parameter of the plugin's", &abi.Auth{Scheme: abi.AuthQuery, Parameter: "b", Value: "v"}, nil, "", "set the parameter \"b\"", nil},
		{"a line end", &abi.Auth{Scheme: abi.AuthHeader, Header: "X", Value: "${bad}"}, nil, "", "control character", nil},
		{"a colon", &abi.Auth{Scheme: abi.AuthBasic, Username: "${colon}", Password: "x"}, nil, "", "colon", nil},
		{"unset", &abi.Auth{Scheme: abi.AuthHeader, Header: "X", Value: "${none}"}, nil, "", "is not set", nil},
		{"unknown", &abi.Auth{Scheme: "tc3"}, nil, "", "does not have", nil},
	} {
		req, signed, err := sign(t, s, "https://x.example/a?b=c", "{}", tt.a, values, tt.headers...)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "sk a") {
				t.Errorf("%s: %v, want an error with %q and no secret", tt.name, err, tt.err)
			}
			kind := outbound.Refused
			if tt.name == "a line end" || tt.name == "a colon" { // the workspace's own
				kind = outbound.Unauthorized
			}
			if e, ok := errors.AsType[*outbound.Error](err); !ok || e.Kind != kind {
				t.Errorf("%s: %#v, want the kind %s", tt.name, err, kind)
			}
			continue
		}
		if got := req.Header.Get("Authorization") + " " + req.URL.String(); err != nil || got != tt.want || !slices.Equal(signed.Secrets, tt.secrets) || signed.Drop != nil {
			t.Errorf("%s: %q, %+v, %v; want %q", tt.name, got, signed, err, tt.want)
		}
	}
}

var awsAuth = &abi.Auth{
	Scheme: abi.AuthAWSSigV4, Service: "bedrock", Region: "${region}",
	AccessKeyID: "${accessKeyId}", SecretAccessKey: "${secretAccessKey}", SessionToken: "${sessionToken?}",
}

// TestAWS signs as botocore does: the signatures were made by it and by AWS's own
// library, for a model's name with a colon and one that is an ARN.
func TestAWS(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	s := credential.New(credential.Options{Transport: nowhere{t}, Now: func() time.Time { return at }})
	values := map[string]string{"region": "us-east-1", "accessKeyId": "AKIDEXAMPLE", "secretAccessKey": "secretexample", "sessionToken": "tok"}
	const base, body = "https://bedrock-runtime.us-east-1.amazonaws.com/model/", `{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`
	for model, want := range map[string]string{
		"amazon.nova-lite-v1%3A0": "39cbda022818bd29b8bf738666e4376a3240f62fbc95627746d208104819acde",
		"arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude-v1%3A0": "7ee77f9ff7c348fd0cdbec9318f850c419878c876fd1975c321149b400fbf1cb",
	} {
		req, signed, err := sign(t, s, base+model+"/converse-stream", body, awsAuth, values, "Accept", "application/vnd.amazon.eventstream")
		if err != nil {
			t.Fatal(err)
		}
		auth := req.Header.Get("Authorization")
		const names = "SignedHeaders=content-length;content-type;host;x-amz-date;x-amz-security-token, "
		if !strings.HasSuffix(auth, names+"Signature="+want) || !strings.Contains(auth, "AKIDEXAMPLE/20261122/us-east-1/bedrock/aws4_request") {
			t.Errorf("%s: Authorization %q, want signature %s", model, auth, want)
		}
		if req.Header.Get("X-Amz-Security-Token") != "tok" || req.Header.Get("User-Agent") != "parley" || !slices.Equal(signed.Secrets, []string{want}) {
			t.Errorf("%s: headers %v, secrets %q", model, req.Header, signed.Secrets)
		}
	}
	delete(values, "sessionToken")
	if req, _, err := sign(t, s, base+"m/converse-stream", body, awsAuth, values); err != nil || req.Header.Get("X-Amz-Security-Token") != "" {
		t.Errorf("without a session: %v, %v", req.Header, err)
	}
	for _, name := range []string{"X-Amz-Date", "Authorization", "X-Amz-Security-Token"} {
		if _, _, err := sign(t, s, base+"m", body, awsAuth, values, name, "own"); err == nil {
			t.Errorf("a plugin's own %s was sent", name)
		}
	}
	values["accessKeyId"] = "a\nb"
	if _, _, err := sign(t, s, base+"m", body, awsAuth, values); err == nil {
		t.Error("a line end went into a header")
	}
}

// TestAWSKeysApart signs with two secrets of one id, as where a workspace's owner
// knows the id of another's key: each signature is made of the secret that is given.
func TestAWSKeysApart(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	s := credential.New(credential.Options{Transport: nowhere{t}, Now: func() time.Time { return at }})
	signature := func(secret string) string {
		values := map[string]string{"region": "us-east-1", "accessKeyId": "AKIDEXAMPLE", "secretAccessKey": secret}
		_, signed, err := sign(t, s, "https://bedrock-runtime.us-east-1.amazonaws.com/model/m", "{}", awsAuth, values)
		if err != nil {
			t.Fatal(err)
		}
		return signed.Secrets[0]
	}
	first, second, again := signature("a secret"), signature("no secret"), signature("a secret")
	if first == second || first != again {
		t.Errorf("signatures %s, %s and %s: want the second one apart", first, second, again)
	}
}

// TestAWSVectors reads the vectors that came with the recordings, where they are
// at hand.
func TestAWSVectors(t *testing.T) {
	dir := os.Getenv("CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "..", "shared", "corpus")
	}
	b, err := os.ReadFile(filepath.Join(dir, "vectors", "sigv4.json"))
	if err != nil {
		t.Skip("no recordings of providers: CORPUS names their folder, ../shared/corpus unless it is set")
	}
	var all struct {
		Vectors []struct{ URL, Signature string }
	}
	if err := json.Unmarshal(b, &all); err != nil || len(all.Vectors) == 0 {
		t.Fatal(err)
	}
	s := credential.New(credential.Options{Transport: nowhere{t}, Now: func() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) }})
	for _, v := range all.Vectors {
		_, signed, err := sign(t, s, v.URL, `{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`, awsAuth,
			map[string]string{"region": "us-east-1", "accessKeyId": "AKIDEXAMPLE", "secretAccessKey": "secretexample", "sessionToken": "tok"})
		if err != nil || !slices.Equal(signed.Secrets, []string{v.Signature}) {
			t.Errorf("%s: %q, %v; want %s", v.URL, signed.Secrets, err, v.Signature)
		}
	}
}
