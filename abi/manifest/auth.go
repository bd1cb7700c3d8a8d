package manifest

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/answer"
)

// schemes lists the members of each scheme: the needed ones first, those that may
// be left out after "?".
var schemes = map[string][]string{
	abi.AuthHeader:                  {"header", "value"},
	abi.AuthQuery:                   {"parameter", "value"},
	abi.AuthBasic:                   {"username", "password", "?", "header", "value"},
	abi.AuthAWSSigV4:                {"service", "region", "accessKeyId", "secretAccessKey", "?", "sessionToken"},
	abi.AuthGCPServiceAccount:       {"credentials", "scopes", "?", "project"},
	abi.AuthOAuth2ClientCredentials: {"tokenUrl", "clientId", "clientSecret", "?", "scopes", "parameters"},
	abi.AuthToken:                   {"tokenUrl", "tokenAnswer", "?", "tokenRequest", "header", "value"},
	abi.AuthHMAC:                    {"hash", "key", "text", "headers", "?", "encoding", "keyEncoding"},
	abi.AuthJWT:                     {"algorithm", "key", "seconds", "?", "keyEncoding", "keyId", "claims", "header", "value"},
}

// made are the names in an entry's texts that the host has values for itself, by scheme
// and the first word of the member.
var made = map[string][]string{
	"basic.value": {"pair"},
	"token.value": {"token"},
	"jwt.value":   {"token"},
	"jwt.claims":  {"now", "expires"},
	"hmac.text":   {"method", "host", "path", "query", "body", "bodySha256", "timestamp", "date", "nonce"},
	"hmac.headers": {
		"signature", "bodySha256", "timestamp", "date", "nonce",
	},
}

// isMade reports whether the host has a value for a name in a member of a.
func isMade(a *abi.Auth, member, name string) bool {
	word, _, _ := strings.Cut(member, ".")
	return slices.Contains(made[a.Scheme+"."+word], name)
}

var authForm = regexp.MustCompile(`^[a-z][A-Za-z0-9]{0,63}$`)

// AuthTexts are the texts of a that may hold names, by the member that has them.
func AuthTexts(a *abi.Auth) map[string]string {
	texts := make(map[string]string, 4)
	add := func(name, text string) {
		if text != "" {
			texts[name] = text
		}
	}
	add("value", a.Value)
	add("username", a.Username)
	add("password", a.Password)
	add("region", a.Region)
	add("accessKeyId", a.AccessKeyID)
	add("secretAccessKey", a.SecretAccessKey)
	add("sessionToken", a.SessionToken)
	add("credentials", a.Credentials)
	add("tokenUrl", a.TokenURL)
	add("clientId", a.ClientID)
	add("clientSecret", a.ClientSecret)
	for i, s := range a.Scopes {
		add(fmt.Sprintf("scopes[%d]", i), s)
	}
	add("key", a.Key)
	add("keyId", a.KeyID)
	add("text", a.Text)
	for member, all := range map[string]map[string]string{
		"parameters": a.Parameters, "headers": a.Headers, "claims": a.Claims, "tokenRequest.headers": a.TokenRequest.Headers, "tokenRequest.form": a.TokenRequest.Form,
	} {
		for name, s := range all {
			add(member+"."+name, s)
		}
	}
	if len(a.TokenRequest.JSON) > 0 {
		_, _ = fillJSON(a.TokenRequest.JSON, func(at, text string) (string, error) {
			add("tokenRequest.json"+at, text)
			return text, nil
		})
	}
	return texts
}

// IsFilled reports whether values has all that a's texts need.
func IsFilled(a *abi.Auth, values map[string]string) bool {
	for _, n := range AuthNames(a) {
		if !n.Optional && values[n.Name] == "" {
			return false
		}
	}
	return true
}

// AuthNames lists the settings and options that a's texts name, sorted. One that
// is needed anywhere is not optional.
func AuthNames(a *abi.Auth) (all []Name) {
	for member, text := range AuthTexts(a) {
		names, _ := Names(text)
		for _, n := range names {
			if isMade(a, member, n.Name) {
				continue
			}
			at := slices.IndexFunc(all, func(o Name) bool { return o.Name == n.Name })
			if at < 0 {
				all = append(all, n)
			} else if !n.Optional {
				all[at].Optional = false
			}
		}
	}
	slices.SortFunc(all, func(x, y Name) int { return strings.Compare(x.Name, y.Name) })
	return all
}

// checkAuth finds what is wrong with m's ways to sign in.
func checkAuth(m *abi.Manifest) (problems []string) {
	if n := len(m.Auth); n > abi.MaxAuth {
		return []string{fmt.Sprintf("auth has %d entries and may have %d", n, abi.MaxAuth)}
	}
	seen := map[string]bool{abi.AuthNone: true}
	for i := range m.Auth {
		a := &m.Auth[i]
		wrong := func(format string, args ...any) {
			problems = append(problems, fmt.Sprintf("auth[%d]: ", i)+fmt.Sprintf(format, args...))
		}
		switch {
		case !authForm.MatchString(a.Name):
			wrong("name is %s and must have 1 to 64 of a-z, A-Z and 0-9, a small letter first", quoteName(a.Name))
		case seen[a.Name]:
			wrong("name is %s, which another entry has, or the word for no entry", quoteName(a.Name))
		}
		seen[a.Name] = true
		members, ok := schemes[a.Scheme]
		if !ok {
			wrong("scheme is %s and must be one of: %s", quoteName(a.Scheme), strings.Join(slices.Sorted(maps.Keys(schemes)), ", "))
			continue
		}
		for _, p := range checkMembers(m, a, members) {
			wrong("%s", p)
		}
		for _, p := range checkNames(m, a) {
			wrong("%s", p)
		}
		for _, o := range a.Origins {
			if !slices.Contains(m.Grants.HTTP, o) {
				wrong("origins has %s, which grants.http does not", quoteName(o))
			}
		}
	}
	return problems
}

// checkMembers holds an entry to the members of its scheme.
func checkMembers(m *abi.Manifest, a *abi.Auth, members []string) (problems []string) {
	has := map[string]bool{
		"header": a.Header != "", "parameter": a.Parameter != "", "service": a.Service != "", "project": a.Project != "",
		"scopes": len(a.Scopes) > 0, "parameters": len(a.Parameters) > 0,
		"hash": a.Hash != "", "encoding": a.Encoding != "", "keyEncoding": a.KeyEncoding != "", "headers": len(a.Headers) > 0, "algorithm": a.Algorithm != "", "claims": len(a.Claims) > 0, "seconds": a.Seconds != 0,
		"tokenRequest": a.TokenRequest.Method != "" || a.TokenRequest.Headers != nil || a.TokenRequest.Form != nil || a.TokenRequest.JSON != nil,
		"tokenAnswer":  len(a.TokenAnswer) > 0,
	}
	for name := range AuthTexts(a) {
		if !strings.ContainsAny(name, ".[") {
			has[name] = true
		}
	}
	needed := members
	if at := slices.Index(members, "?"); at >= 0 {
		needed = members[:at]
	}
	for _, name := range needed {
		if !has[name] {
			problems = append(problems, fmt.Sprintf("the scheme %s needs %s", a.Scheme, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if has[name] && !slices.Contains(members, name) {
			problems = append(problems, fmt.Sprintf("the scheme %s has no %s", a.Scheme, name))
		}
	}
	if a.Header != "" && !headerForm.MatchString(a.Header) {
		problems = append(problems, fmt.Sprintf("header is %s, which is not a header name", quoteName(a.Header)))
	}
	if o, ok := m.Options[a.Project]; a.Project != "" && (!ok || o.Type != abi.OptionString || o.Pattern == "" && o.Enum == nil || o.Secret || o.Required || o.Default != nil) {
		problems = append(problems, fmt.Sprintf("project is %s, which is not an option that is a string with a pattern or an enum, no secret, not required and without default", quoteName(a.Project)))
	}
	if a.TokenURL != "" {
		if err := checkTokenURL(a.TokenURL); err != nil {
			problems = append(problems, fmt.Sprintf("tokenUrl is %s: %v", quoteName(a.TokenURL), err))
		}
	}
	return append(problems, checkSigning(a)...)
}

// checkSigning finds what is wrong with members that have a few values or a form.
func checkSigning(a *abi.Auth) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for _, tt := range []struct {
		member, value string
		of            []string
	}{
		{"hash", a.Hash, []string{"sha256", "sha512", "sha1"}},
		{"encoding", a.Encoding, []string{"hex", "base64"}},
		{"keyEncoding", a.KeyEncoding, []string{"hex", "base64"}},
		{"algorithm", a.Algorithm, []string{"HS256", "RS256", "ES256"}},
		{"tokenRequest.method", a.TokenRequest.Method, []string{"POST", "GET"}},
	} {
		if tt.value != "" && !slices.Contains(tt.of, tt.value) {
			wrong("%s is %s and must be one of: %s", tt.member, quoteName(tt.value), strings.Join(tt.of, ", "))
		}
	}
	for _, headers := range []map[string]string{a.Headers, a.TokenRequest.Headers} {
		seen := map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			if !headerForm.MatchString(name) {
				wrong("headers has %s, which is not a header name", quoteName(name))
			}
			same := strings.ToLower(name)
			if seen[same] {
				wrong("headers has %s twice: the case of letters makes no other header", quoteName(name))
			}
			seen[same] = true
		}
	}
	if a.KeyEncoding != "" && a.Algorithm != "" && a.Algorithm != "HS256" {
		wrong("keyEncoding is for HS256, and the key of %s is in PEM", a.Algorithm)
	}
	for _, name := range []string{"exp", "iat"} {
		if _, ok := a.Claims[name]; ok {
			wrong("claims has %s, which the host sets itself: a text of it is no time", quoteName(name))
		}
	}
	if a.Seconds < 0 || a.Seconds > abi.MaxTimeoutSeconds {
		wrong("seconds is %d and must be 1 to %d", a.Seconds, abi.MaxTimeoutSeconds)
	}
	if a.TokenRequest.Form != nil && a.TokenRequest.JSON != nil {
		wrong("tokenRequest has both form and json")
	}
	if len(a.TokenRequest.JSON) > 0 {
		if _, err := fillJSON(a.TokenRequest.JSON, func(_, text string) (string, error) { return text, nil }); err != nil {
			wrong("tokenRequest.json: %v", err)
		}
	}
	if len(a.TokenAnswer) > 0 {
		if _, err := answer.ParseToken(a.TokenAnswer); err != nil {
			wrong("tokenAnswer %v", err)
		}
	}
	return problems
}

var headerForm = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$")

// checkNames holds the names in an entry's texts to the settings and options that
// there are.
func checkNames(m *abi.Manifest, a *abi.Auth) (problems []string) {
	texts := AuthTexts(a)
	for _, member := range slices.Sorted(maps.Keys(texts)) {
		names, err := Names(texts[member])
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", member, err))
		}
		for _, n := range names {
			if isMade(a, member, n.Name) {
				continue
			}
			o, ok := m.Options[n.Name]
			if !ok && !slices.Contains(settingNames, n.Name) {
				problems = append(problems, fmt.Sprintf("%s names %s, which is neither a setting nor an option", member, quoteName(n.Name)))
			}
			if member == "tokenUrl" && (!ok || o.Secret || o.Pattern == "" && o.Enum == nil) {
				problems = append(problems, fmt.Sprintf("tokenUrl names %s, and may name only an option with a pattern or an enum", quoteName(n.Name)))
			}
		}
	}
	return problems
}

// checkTokenURL wants an https URL whose host holds no name: whoever may set an
// option must not choose whom the host calls.
func checkTokenURL(s string) error {
	filled, _ := fillTemplate(s, func(Name) (string, bool) { return "x", true })
	u, err := url.Parse(filled)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return errors.New("it must be an https URL with a host, and no user or fragment")
	}
	if !strings.HasPrefix(s, "https://"+u.Host+"/") {
		return errors.New("its host must be written out, without names")
	}
	return nil
}

// checkGrantNames holds the names in an origin to options that can be no more
// than a part of a host's name.
func checkGrantNames(m *abi.Manifest, origin string) error {
	names, err := Names(origin)
	if err != nil {
		return err
	}
	for _, n := range names {
		o, ok := m.Options[n.Name]
		switch {
		case n.Optional || !ok || o.Type != abi.OptionString || o.Secret:
			return fmt.Errorf("it names %s, which is not a plain option that is a string", quoteName(n.Name))
		case o.Enum == nil && o.Pattern == "":
			return fmt.Errorf("it names %s, which must have an enum or a pattern", quoteName(n.Name))
		}
		for _, v := range o.Enum {
			if !hostLabel.MatchString(v) {
				return fmt.Errorf("it names %s, of which %s is not a part of a host's name", quoteName(n.Name), quoteName(v))
			}
		}
	}
	return nil
}

// AuthGrants says in words what each of m's ways to sign in may use, so that an
// operator can accept it and a later version cannot ask for more unseen.
func AuthGrants(m *abi.Manifest) []string {
	var all []string
	for i := range m.Auth {
		a := &m.Auth[i]
		if a.Scheme == abi.AuthPlaceholder {
			continue
		}
		var secrets []string
		for _, n := range AuthNames(a) {
			if slices.Contains(secretNames, n.Name) || m.Options[n.Name].Secret {
				secrets = append(secrets, n.Name)
			}
		}
		s := a.Scheme
		if len(secrets) > 0 {
			s += " with " + strings.Join(secrets, ", ")
		}
		if a.TokenURL != "" {
			s += " by tokens of " + a.TokenURL
		}
		if a.Scheme == abi.AuthGCPServiceAccount {
			s += " by tokens of " + GoogleTokenURL
			if a.Project != "" {
				s += ", telling the plugin its project"
			}
		}
		if len(a.Origins) > 0 {
			s += " at " + strings.Join(a.Origins, ", ")
		}
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// GoogleTokenURL is where service accounts' tokens come from, whatever their key
// files say: whoever may set such a file must not choose whom the host calls.
const GoogleTokenURL = "https://oauth2.googleapis.com/token"
