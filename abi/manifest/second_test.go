package manifest_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
)

// bedrock is a manifest of ABI 2 with a bit of everything.
const bedrock = `{"abi":2,"kind":"provider","name":"aws","version":"1.0.0","source":"aws",
"settings":{"apiKey":{}},"grants":{"http":["https://bedrock-runtime.${region}.amazonaws.com","${baseUrl}"]},
"auth":[{"name":"key","scheme":"header","header":"Authorization","value":"Bearer ${apiKey}","origins":["${baseUrl}"]},
 {"name":"sigv4","scheme":"awsSigV4","service":"bedrock","region":"${region}","accessKeyId":"${accessKeyId}","secretAccessKey":"${secretAccessKey}","sessionToken":"${sessionToken?}"},
 {"name":"entra","scheme":"oauth2ClientCredentials","tokenUrl":"https://login.example.com/${tenantId}/token","clientId":"c","clientSecret":"${secretAccessKey}","scopes":["s"]}],
"options":{"region":{"type":"string","pattern":"[a-z0-9-]+","required":true},"accessKeyId":{"type":"string","secret":true},
 "secretAccessKey":{"type":"string","secret":true},"sessionToken":{"type":"string","secret":true},"tenantId":{"type":"string","enum":["a","b"]},
 "numCtx":{"type":"integer","minimum":512,"maximum":1048576,"default":16384}},
"timeouts":{"firstByteSeconds":300}}`

// change returns bedrock with a member replaced, or the one of an object in it
// by a path with dots.
func change(t *testing.T, path string, value any) []byte {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(bedrock), &m); err != nil {
		t.Fatal(err)
	}
	at, names := m, strings.Split(path, ".")
	for _, n := range names[:len(names)-1] {
		at = at[n].(map[string]any)
	}
	at[names[len(names)-1]] = value
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseSecond(t *testing.T) {
	m, err := manifest.Parse([]byte(bedrock))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"header with apiKey at ${baseUrl}", "awsSigV4 with accessKeyId, secretAccessKey, sessionToken",
		"oauth2ClientCredentials with secretAccessKey by tokens of https://login.example.com/${tenantId}/token",
	}
	if got := manifest.AuthGrants(m); !slices.Equal(got, want) {
		t.Errorf("AuthGrants = %q, want %q", got, want)
	}
	entry := func(change map[string]any) any {
		e := map[string]any{"name": "x", "scheme": "header", "header": "X", "value": "${apiKey}"}
		maps.Copy(e, change)
		return []any{e}
	}
	oauth := func(url string) any {
		return []any{map[string]any{"name": "x", "scheme": "oauth2ClientCredentials", "tokenUrl": url, "clientId": "c", "clientSecret": "s"}}
	}
	google := func(project string) any {
		return []any{map[string]any{"name": "x", "scheme": "gcpServiceAccount", "credentials": "${secretAccessKey}", "scopes": []any{"s"}, "project": project}}
	}
	m, err = manifest.Parse(change(t, "auth", google("tenantId")))
	if err != nil {
		t.Fatal(err)
	}
	if got := manifest.AuthGrants(m)[0]; got != "gcpServiceAccount with secretAccessKey by tokens of https://oauth2.googleapis.com/token, telling the plugin its project" {
		t.Errorf("AuthGrants of a key file's project = %q", got)
	}
	for _, tt := range []struct {
		path  string
		value any
		want  string
	}{
		{"auth", google("nope"), `project is "nope"`},
		{"auth", google("secretAccessKey"), `project is "secretAccessKey"`},
		{"auth", google("numCtx"), `project is "numCtx"`},
		{"auth", google("region"), `project is "region"`},
		{"auth", entry(map[string]any{"project": "tenantId"}), "the scheme header has no project"},
		{"features", []any{"nope"}, `features has "nope", and this host has again, requestId, token, hmac, jwt, histogram, share, guardEvent`},
		{"grants.secrets", []any{"apiKey"}, "grants.secrets belongs to ABI 1"},
		{"grants.http", []any{"https://${region}.example"}, "two labels"},
		{"grants.http", []any{"https://${region}"}, "two labels"},
		{"grants.http", []any{"https://a.b.${region}"}, "two labels"},
		{"grants.http", []any{"http://${region}.example.com"}, "must be https"},
		{"grants.http", []any{"https://${numCtx}.example.com"}, "not a plain option that is a string"},
		{"grants.http", []any{"https://${accessKeyId}.example.com"}, "not a plain option that is a string"},
		{"grants.http", []any{"https://${region.example.com"}, "${ that no name"},
		{"auth", entry(map[string]any{"name": "none"}), "the word for no entry"},
		{"auth", entry(map[string]any{"scheme": "placeholder"}), "scheme is \"placeholder\""},
		{"auth", entry(map[string]any{"value": ""}), "needs value"},
		{"auth", entry(map[string]any{"username": "u"}), "has no username"},
		{"auth", entry(map[string]any{"header": "a b"}), "not a header name"},
		{"auth", entry(map[string]any{"value": "${nope}"}), `value names "nope"`},
		{"auth", entry(map[string]any{"value": "${apiKey"}), "${ that no name"},
		{"auth", entry(map[string]any{"origins": []any{"https://x.example"}}), "origins has"},
		{"auth", oauth("http://x.example/t"), "must be an https URL"},
		{"auth", oauth("https://${region}.example.com/t"), "host must be written out"},
		{"auth", oauth("https://x.example/${accessKeyId}"), "tokenUrl names"},
		{"auth", oauth("https://x.example/${apiKey}"), "tokenUrl names"},
		{"options.orgId", map[string]any{"type": "string"}, "setting of every workspace"},
		{"options.Big", map[string]any{"type": "string"}, "a small letter first"},
		{"options.x", map[string]any{"type": "list"}, "type is \"list\""},
		{"options.x", map[string]any{"type": "integer", "secret": true}, "are for strings"},
		{"options.x", map[string]any{"type": "string", "minimum": 1}, "are for numbers"},
		{"options.x", map[string]any{"type": "string", "pattern": "("}, "not a regular expression"},
		{"options.x", map[string]any{"type": "integer", "default": 1.5}, "default must be an integer"},
		{"options.x", map[string]any{"type": "string", "secret": true, "default": "s"}, "neither default nor enum"},
		{"timeouts.firstByteSeconds", -1, "timeouts.firstByteSeconds is -1"},
		{"timeouts.silenceSeconds", 4000, "timeouts.silenceSeconds is 4000"},
	} {
		if _, err := manifest.Parse(change(t, tt.path, tt.value)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s = %v: error %v, want one with %q", tt.path, tt.value, err, tt.want)
		}
	}
}

// TestFeatures: what a plugin uses of a feature its manifest names, and an older host
// says what it lacks.
func TestFeatures(t *testing.T) {
	token := map[string]any{
		"name": "iam", "scheme": "token", "tokenUrl": "https://iam.example.com/${tenantId}/token", "value": "Bearer ${token}",
		"tokenRequest": map[string]any{"json": map[string]any{"key": "${secretAccessKey}"}, "headers": map[string]any{"X-Key": "${apiKey}"}},
		"tokenAnswer":  map[string]any{"access_token": "{{token}}", "in": "{{seconds}}"},
	}
	hmac := map[string]any{
		"name": "sign", "scheme": "hmac", "hash": "sha256", "key": "${secretAccessKey}", "text": "${method}${path}${query}${body}${date}",
		"headers": map[string]any{"X-Signature": "${signature}", "X-Time": "${timestamp}"},
	}
	jwt := map[string]any{"name": "own", "scheme": "jwt", "algorithm": "ES256", "key": "${secretAccessKey}", "seconds": 300, "claims": map[string]any{"iss": "${accessKeyId}", "nbf": "${now}"}}
	read := func(features []any, extra string, auth ...any) (*abi.Manifest, error) {
		b := change(t, "auth", auth)
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		m["features"] = features
		if extra != "" {
			m["steps"] = json.RawMessage(extra)
		}
		b, _ = json.Marshal(m)
		return manifest.Parse(b)
	}
	m, err := read([]any{"again", "token", "hmac", "jwt"}, `{"requests":5,"seconds":60}`, token, hmac, jwt)
	if err != nil {
		t.Fatal(err)
	}
	if manifest.NeededHost(m) != "0.3.0" || !manifest.Has(m, abi.FeatureAgain) || manifest.Has(m, abi.FeatureRequestID) {
		t.Errorf("features %q need the host %q", m.Features, manifest.NeededHost(m))
	}
	want := []string{
		"token with apiKey, secretAccessKey by tokens of https://iam.example.com/${tenantId}/token",
		"hmac with secretAccessKey", "jwt with accessKeyId, secretAccessKey",
	}
	if got := manifest.AuthGrants(m); !slices.Equal(got, want) {
		t.Errorf("AuthGrants = %q, want %q", got, want)
	}
	has := map[string]string{"secretAccessKey": "s", "apiKey": "k"}
	if !manifest.IsFilled(&m.Auth[0], map[string]string{"secretAccessKey": "s", "apiKey": "k", "tenantId": "a"}) || manifest.IsFilled(&m.Auth[0], has) || !manifest.IsFilled(&m.Auth[1], has) || manifest.IsFilled(&m.Auth[2], has) {
		t.Error("IsFilled takes a name of the host's own for a setting, or the other way round")
	}
	with := func(base map[string]any, change map[string]any) any {
		e := maps.Clone(base)
		maps.Copy(e, change)
		return e
	}
	all := []any{"again", "token", "hmac", "jwt"}
	for _, tt := range []struct {
		features []any
		steps    string
		auth     any
		want     string
	}{
		{nil, "", token, `features must have "token"`},
		{[]any{"token"}, `{"requests":5}`, token, `steps is for plugins whose features have "again"`},
		{all, `{"requests":1001}`, token, "steps.requests is 1001"},
		{all, `{"seconds":-1}`, token, "steps.seconds is -1"},
		{[]any{"token", "token"}, "", token, `features has "token" twice`},
		{all, "", with(token, map[string]any{"tokenAnswer": map[string]any{"t": "x"}}), `tokenAnswer must have "{{token}}" once`},
		{all, "", with(token, map[string]any{"tokenAnswer": map[string]any{"t": "{{token}}", "s": "{{seconds}}", "e": "{{expires}}"}}), "tokenAnswer has both"},
		{all, "", with(token, map[string]any{"tokenUrl": "https://${tenantId}.example.com/t"}), "host must be written out"},
		{all, "", with(token, map[string]any{"tokenRequest": map[string]any{"form": map[string]any{"a": "b"}, "json": map[string]any{}}}), "both form and json"},
		{all, "", with(token, map[string]any{"tokenRequest": map[string]any{"form": map[string]any{"a": "${token}"}}}), `tokenRequest.form.a names "token"`},
		{all, "", with(token, map[string]any{"tokenRequest": map[string]any{"json": map[string]any{"a": []any{"${nope}"}}}}), `tokenRequest.json.a[0] names "nope"`},
		{all, "", with(token, map[string]any{"tokenRequest": map[string]any{"method": "PUT"}}), "tokenRequest.method is"},
		{all, "", with(hmac, map[string]any{"hash": "md5"}), "hash is"},
		{all, "", with(hmac, map[string]any{"encoding": "base32"}), "encoding is"},
		{all, "", with(hmac, map[string]any{"text": "${signature}"}), `text names "signature"`},
		{all, "", with(hmac, map[string]any{"headers": map[string]any{"a b": "${signature}"}}), "not a header name"},
		{all, "", with(hmac, map[string]any{"headers": map[string]any{"X-Key": "${signature}", "x-key": "${date}"}}), `headers has "x-key" twice`},
		{all, "", with(token, map[string]any{"tokenRequest": map[string]any{"headers": map[string]any{"X-Key": "a", "x-Key": "b"}}}), `headers has "x-Key" twice`},
		{all, "", with(hmac, map[string]any{"keyEncoding": "base32"}), "keyEncoding is"},
		{all, "", with(jwt, map[string]any{"keyEncoding": "base64"}), "keyEncoding is for HS256"},
		{all, "", with(token, map[string]any{"keyEncoding": "base64"}), "has no keyEncoding"},
		{all, "", with(jwt, map[string]any{"algorithm": "none"}), "algorithm is"},
		{all, "", with(jwt, map[string]any{"seconds": 7200}), "seconds is 7200"},
		{all, "", with(jwt, map[string]any{"claims": map[string]any{"a": "${token}"}}), `claims.a names "token"`},
		{all, "", with(jwt, map[string]any{"claims": map[string]any{"exp": "${expires}"}}), `claims has "exp", which the host sets itself`},
	} {
		if _, err := read(tt.features, tt.steps, tt.auth); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("features %v, steps %s, auth %v: error %v, want one with %q", tt.features, tt.steps, tt.auth, err, tt.want)
		}
	}
}

// TestUpgrade reads manifests of ABI 1: what came later is nothing to them.
func TestUpgrade(t *testing.T) {
	first := strings.Replace(bedrock, `"abi":2`, `"abi":1`, 1)
	first = strings.Replace(first, `"https://bedrock-runtime.${region}.amazonaws.com",`, "", 1)
	m, err := manifest.Parse([]byte(first))
	if err != nil {
		t.Fatal(err)
	}
	if !manifest.UsesPlaceholders(m) || m.Options != nil || m.Timeouts != (abi.Timeouts{}) || manifest.AuthGrants(m) != nil {
		t.Errorf("a manifest of ABI 1 came to %+v", m)
	}
	var unknown []string
	for _, u := range manifest.FindUnknown([]byte(first)) {
		unknown = append(unknown, u.Path())
	}
	if !slices.Equal(unknown, []string{"auth", "options", "timeouts"}) {
		t.Errorf("unknown members of ABI 1: %q", unknown)
	}
	if all := manifest.FindUnknown([]byte(bedrock)); len(all) > 0 {
		t.Errorf("unknown members of ABI 2: %+v", all)
	}
	if _, err := manifest.Parse([]byte(strings.Replace(first, `"kind"`, `"features":["exchange"],"kind"`, 1))); err == nil {
		t.Error("a feature that no host has was taken in ABI 1")
	}
}

func TestCheckValue(t *testing.T) {
	number := func(f float64) *float64 { return &f }
	length := func(n int) *int { return &n }
	text := abi.Option{Type: "string", MinLength: length(2), MaxLength: length(3), Pattern: "[aé]+|b+"}
	whole := abi.Option{Type: "integer", Minimum: number(1), Maximum: number(9)}
	for _, tt := range []struct {
		o     abi.Option
		value string
		want  string // in the error; empty: none
	}{
		{text, `"aé"`, ""},
		{text, ` "bbb" `, ""},
		{text, `"a"`, "at least 2"},
		{text, `"aaaa"`, "at most 3"},
		{text, `"abx"`, "pattern"},
		{text, `"ab"`, "pattern"},
		{text, `1`, "a string"},
		{text, `null`, "a string"},
		{text, ``, "a string"},
		{text, `{"a":1}`, "a string"},
		{abi.Option{Type: "string", Enum: []string{"x"}}, `"x"`, ""},
		{abi.Option{Type: "string", Enum: []string{"x"}}, `"y"`, "one of: x"},
		{abi.Option{Type: "string"}, `"a\nb"`, "control character"},
		{abi.Option{Type: "string", Secret: true}, `"a\nb"`, ""},
		{abi.Option{Type: "string"}, `"` + strings.Repeat("x", abi.MaxOptionValue+1) + `"`, "longer than 8192"},
		{abi.Option{Type: "string", Secret: true}, `"` + strings.Repeat("x", abi.MaxOptionValue+1) + `"`, ""},
		{abi.Option{Type: "string", Secret: true}, `"` + strings.Repeat("x", abi.MaxOptionSecret+1) + `"`, "longer than 16384"},
		{whole, `9`, ""},
		{whole, `0`, "at least 1"},
		{whole, `10`, "at most 9"},
		{whole, `1.0`, "an integer"},
		{whole, `1e1`, "an integer"},
		{whole, `"1"`, "an integer"},
		{abi.Option{Type: "integer"}, `9007199254740994`, "an integer"},
		{abi.Option{Type: "number"}, `1.5e3`, ""},
		{abi.Option{Type: "number"}, `true`, "a number"},
		{abi.Option{Type: "number"}, `null`, "a number"},
		{abi.Option{Type: "boolean"}, `true`, ""},
		{abi.Option{Type: "boolean"}, `"true"`, "true or false"},
	} {
		err := manifest.CheckValue(&tt.o, []byte(tt.value))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("CheckValue(%+v, %.40s) = %v, want %q", tt.o, tt.value, err, tt.want)
		}
	}
}

func TestOrigins(t *testing.T) {
	m, err := manifest.Parse([]byte(bedrock))
	if err != nil {
		t.Fatal(err)
	}
	for region, want := range map[string][]string{
		"us-east-1": {"https://bedrock-runtime.us-east-1.amazonaws.com", "${baseUrl}"},
		"":          {"${baseUrl}"}, "evil.example/": {"${baseUrl}"}, "a.b": {"${baseUrl}"}, "-a": {"${baseUrl}"}, "A": {"${baseUrl}"},
	} {
		if got := manifest.Origins(m, map[string]string{"region": region}); !reflect.DeepEqual(got, want) {
			t.Errorf("Origins with region %q = %q, want %q", region, got, want)
		}
	}
}
