package workspace

import (
	"encoding/json"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// Secrets are the workspace's, by name, that are set: its key and the secret
// options.
func (w *Workspace) Secrets() map[string]secret.Text {
	all := make(map[string]secret.Text, 1+len(w.OptionSecrets))
	for name, s := range w.OptionSecrets {
		all[name] = s
	}
	if !w.APIKey.IsZero() {
		all["apiKey"] = w.APIKey
	}
	return all
}

// Values are the settings and options that the manifest's texts may name: those
// that are set or have a default. Only what the manifest itself takes for a
// secret is looked for among the secrets.
func (w *Workspace) Values(m *abi.Manifest) map[string]string {
	all := make(map[string]string, 2+len(textFields)+len(m.Options)) // with baseUrl
	all["apiKey"] = w.APIKey.Reveal()
	for _, f := range textFields {
		all[f.name] = *f.at(w)
	}
	all["baseUrl"] = trimBaseURL(w.BaseURL)
	for name := range m.Options {
		o := m.Options[name]
		if o.Secret {
			all[name] = w.OptionSecrets[name].Reveal()
			continue
		}
		v := w.option(m, name)
		if text, ok := rawjson.String(v); ok {
			all[name] = text
		} else if v != nil {
			all[name] = string(v)
		}
	}
	return all
}

// option returns the value of a plain option, the project of a key file that stands for
// it, or its default; nil: it has none of them.
func (w *Workspace) option(m *abi.Manifest, name string) json.RawMessage {
	if v, ok := w.Options[name]; ok {
		return v
	}
	for i := range m.Auth {
		if a := &m.Auth[i]; a.Project == name && a.Scheme == abi.AuthGCPServiceAccount {
			if v := w.projectOf(m, a); v != nil {
				return v
			}
		}
	}
	return json.RawMessage(m.Options[name].Default)
}

// projectOf is the project that the key file of a names, where the option a.Project may
// be that. Nothing else of the file leaves it.
func (w *Workspace) projectOf(m *abi.Manifest, a *abi.Auth) json.RawMessage {
	secrets := map[string]string{}
	for name, s := range w.Secrets() {
		if name == "apiKey" || m.Options[name].Secret {
			secrets[name] = s.Reveal()
		}
	}
	file, ok := manifest.Fill(a.Credentials, secrets)
	var key struct {
		Type    string `json:"type"`
		Project string `json:"project_id"`
	}
	if !ok || json.Unmarshal([]byte(file), &key) != nil || key.Type != "service_account" {
		return nil
	}
	o, v := m.Options[a.Project], jsonbody.Quote(key.Project)
	if manifest.CheckValue(&o, v) != nil {
		return nil
	}
	return v
}

// GuestOptions are what the plugin itself is told: values, and of secrets that
// they are set.
func (w *Workspace) GuestOptions(m *abi.Manifest) map[string]abi.RawJSON {
	if manifest.UsesPlaceholders(m) {
		return nil
	}
	all := map[string]abi.RawJSON{}
	if !w.APIKey.IsZero() {
		all["apiKey"] = abi.RawJSON("true")
	}
	for name := range m.Options {
		o := m.Options[name]
		switch v := w.option(m, name); {
		case o.Secret && !w.OptionSecrets[name].IsZero():
			all[name] = abi.RawJSON("true")
		case !o.Secret && v != nil:
			all[name] = abi.RawJSON(v)
		}
	}
	return all
}

// Credential chooses how a request to url is signed in: nil for a plugin that
// writes placeholders.
func (w *Workspace) Credential(m *abi.Manifest, out *abi.EncodeResponse, values map[string]string) (*outbound.Credential, error) {
	if manifest.UsesPlaceholders(m) {
		return nil, nil
	}
	c := &outbound.Credential{Values: values}
	if out.Auth == abi.AuthNone {
		return c, nil
	}
	known := false
	for i := range m.Auth {
		a := &m.Auth[i]
		if out.Auth != "" && a.Name != out.Auth || !covers(a, out.URL, m, values) {
			continue
		}
		known = true
		if manifest.IsFilled(a, values) {
			c.Auth = a
			return c, nil
		}
	}
	if out.Auth == "" {
		return c, nil
	}
	why := "which its manifest does not have for that URL"
	if known {
		why = "for which the workspace has not set all that it needs"
	}
	return nil, &outbound.Error{Kind: outbound.Refused, Message: "the plugin asked for the auth " + jsonbody.Cut(out.Auth, 64) + ", " + why}
}

// covers reports whether a may be sent to the origin of url. Which origins may be
// asked at all is checked elsewhere.
func covers(a *abi.Auth, url string, m *abi.Manifest, values map[string]string) bool {
	if len(a.Origins) == 0 {
		return true
	}
	own := *m
	own.Grants.HTTP = a.Origins
	for _, o := range manifest.Origins(&own, values) {
		if o == abi.GrantBaseURL {
			o = values["baseUrl"]
			if scheme, rest, ok := strings.Cut(o, "://"); ok {
				host, _, _ := strings.Cut(rest, "/")
				o = scheme + "://" + host
			}
		}
		if o != "" && (url == o || strings.HasPrefix(url, o+"/") || strings.HasPrefix(url, o+"?")) {
			return true
		}
	}
	return false
}
