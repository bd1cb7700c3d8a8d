package chat_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// withOptions gives the fixture two plugins of ABI 2.
func withOptions(t *testing.T, scripts ...chattest.Script) *fixture {
	t.Helper()
	f := newFixture(t, scripts...)
	text, hidden := abi.Option{Type: "string", Pattern: "[a-z0-9-]+"}, abi.Option{Type: "string", Secret: true}
	needed := text
	needed.Required, needed.Description = true, "the region."
	f.source.Is.ABI = 2
	f.source.Is.Settings = nil
	f.source.Is.Grants = abi.Grants{HTTP: []string{"https://llm.example.com", "https://api.${region}.example.com"}}
	f.source.Is.Options = map[string]abi.Option{
		"region": needed, "keyId": hidden, "secretKey": hidden, "numCtx": {Type: "integer", Default: abi.RawJSON("4096")}, "fast": {Type: "boolean"},
	}
	f.source.Is.Auth = []abi.Auth{
		{Name: "pair", Scheme: abi.AuthBasic, Username: "${keyId}", Password: "${secretKey}"},
		{Name: "key", Scheme: abi.AuthHeader, Header: "Authorization", Value: "Bearer ${apiKey}", Origins: []string{"https://llm.example.com"}},
	}
	f.sources["openAi"].(*chattest.Source).Is.Options = map[string]abi.Option{"region": text}
	return f
}

func TestOptions(t *testing.T) {
	const set = `{"options":{"region":"eu-1","keyId":"key-id-of-15-ch","secretKey":"secret-canary-0123456789"}}`
	for _, tt := range []struct {
		name, patch string
		want        string // options of GET afterwards, or of the error's text
		warns       string
	}{
		{"nothing", `{}`, `{"keyId":"keXXXX...","region":"eu-1","secretKey":"secXXXXX..."}`, ""},
		{"merged", `{"options":{"numCtx":9,"fast":true,"keyId":null}}`, `{"fast":true,"numCtx":9,"region":"eu-1","secretKey":"secXXXXX..."}`, ""},
		{"obfuscated", `{"options":{"keyId":"keXXXX...","secretKey":"secXXXXX..."}}`, `{"keyId":"keXXXX...","region":"eu-1","secretKey":"secXXXXX..."}`, ""},
		{"emptied", `{"options":{"secretKey":""}}`, `{"keyId":"keXXXX...","region":"eu-1"}`, ""},
		{"reset without the required one", `{"options":null}`, "! The source test needs `options.region` (the region)", ""},
		{"unknown", `{"options":{"secretkey":"x"}}`, "! Unknown option `options.secretkey`: did you mean `secretKey`?", ""},
		{"of another type", `{"options":{"numCtx":"9"}}`, "! `options.numCtx` must be an integer, not \"9\"", ""},
		{"against the pattern", `{"options":{"region":"A"}}`, "! `options.region` must match the pattern", ""},
		{"another's obfuscated secret", `{"options":{"secretKey":"abXXXX..."}}`, "! `options.secretKey` is an obfuscated secret", ""},
		{"no object", `{"options":[]}`, "! `options` must be an object or null, not an array", ""},
		{"to another provider", `{"source":"openAi"}`, `{"region":"eu-1"}`, "The stored secret options keyId, secretKey were dropped"},
		{"to another provider with one", `{"baseUrl":"https://b.example","options":{"keyId":"new"}}`, `{"keyId":"XXX...","region":"eu-1"}`, "options secretKey were dropped"},
		{"to another provider with an obfuscated one", `{"baseUrl":"https://b.example","options":{"keyId":"keXXXX..."}}`, `{"region":"eu-1"}`, "options keyId, secretKey were dropped"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := withOptions(t)
			if s, _ := f.patch(t, "demo", set); string(encoded(t, s.Options)) != `{"region":"eu-1"}` || strings.Contains(string(encoded(t, s)), "canary") || strings.Contains(string(encoded(t, s)), "secXX") {
				t.Errorf("PATCH answers options %s, want those that are no secrets", encoded(t, s.Options))
			}
			before := f.workspace(t, "demo")
			_, warning, err := f.Patch(t.Context(), "demo", []byte(tt.patch))
			if refusal, ok := strings.CutPrefix(tt.want, "! "); ok {
				if !apierr.Is(err, chaterr.InvalidChatOptions) || !strings.HasPrefix(apierr.From(err).Message, refusal) {
					t.Errorf("Patch = %v, want %s", err, refusal)
				}
				if !reflect.DeepEqual(f.workspace(t, "demo"), before) {
					t.Error("a refused patch changed the workspace")
				}
				return
			}
			if err != nil || !strings.Contains(warning, tt.warns) || tt.warns == "" && warning != "" {
				t.Errorf("Patch = %q, %v; want the warning %q", warning, err, tt.warns)
			}
			s, err := f.Workspace(t.Context(), "demo")
			if got := string(encoded(t, s.Options)); err != nil || got != tt.want {
				t.Errorf("options afterwards: %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

// TestOptionsWithoutSource sends options without the source that they are for: they are
// held to the plugin of the source that the workspace has, or gets.
func TestOptionsWithoutSource(t *testing.T) {
	for _, tt := range []struct {
		name, uid, before, patch string
		want                     string // options afterwards, or ! and the error's text
	}{
		{"of a workspace that moved", "demo", `{"source":"openAi"}`, `{"options":{"region":"b"}}`, `{"region":"b"}`},
		{"of the source before", "demo", `{"source":"openAi"}`, `{"options":{"numCtx":9}}`, "! Unknown option `options.numCtx`: known are `region`. The workspace's source is openAi: send `source` along"},
		{"with that source", "demo", `{"source":"openAi"}`, `{"source":"test","options":{"region":"b","numCtx":9}}`, `{"numCtx":9,"region":"b"}`},
		{"of a source without any", "demo", `{"source":"bare"}`, `{"options":{"region":"b"}}`, "! Unknown option `options.region`: bare 3.2.1 has none. The workspace's source is bare: send"},
		{"nothing of a source without any", "demo", `{"source":"bare"}`, `{"options":{}}`, `{"region":"a"}`},
		{"taken away", "demo", `{"source":"openAi","options":{"region":"b"}}`, `{"options":{"region":null,"numCtx":null}}`, `null`},
		{"of a new workspace", "new", "", `{"options":{"numCtx":9}}`, "! Unknown option `options.numCtx`: known are `region`. The workspace's source is openAi: send"},
		{"of a plugin that is not there", "demo", `{"options":{"region":"b"}}`, `{"options":{"region":"c"}}`, "! `options.region` cannot be checked, since no plugin that is loaded answers the workspace's source test: install it"},
		{"of a version that is not there", "demo", `{"options":{"region":"b"},"pluginVersion":"1.0.0"}`, `{"options":{"region":"c"}}`, "! `options.region` cannot be checked, since no plugin that is loaded is what the workspace wants for its source test by `plugin` and `pluginVersion`"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := withOptions(t)
			bare := &chattest.Source{Is: abi.Manifest{ABI: 2, Name: "bare", Version: "3.2.1", Source: "bare"}}
			f.sources["bare"] = bare
			if tt.before != "" {
				f.patch(t, tt.uid, `{"options":{"region":"a"}}`)
				f.patch(t, tt.uid, tt.before)
			}
			switch tt.name {
			case "of a plugin that is not there":
				delete(f.sources, "test")
			case "of a version that is not there":
				f.source.Is.Version = "2.0.0"
			}
			s, _, err := f.Patch(t.Context(), tt.uid, []byte(tt.patch))
			if refusal, ok := strings.CutPrefix(tt.want, "! "); ok {
				if e := apierr.From(err); e == nil || e.Code != chaterr.InvalidChatOptions || !strings.HasPrefix(e.Message, refusal) || !strings.HasPrefix(e.Param, "options.") {
					t.Errorf("Patch = %v, want %s", err, refusal)
				}
				return
			}
			if text := string(encoded(t, s.Options)); err != nil || text != tt.want {
				t.Errorf("options afterwards: %s, %v; want %s", text, err, tt.want)
			}
		})
	}
}

// TestOptionsUnknownStay goes over to a version without some options, and back.
func TestOptionsUnknownStay(t *testing.T) {
	f := withOptions(t, say("text:x", "finish:stop"))
	f.patch(t, "demo", `{"options":{"region":"eu-1","numCtx":7,"keyId":"k"}}`)
	had := f.source.Is.Options
	f.source.Is.Options = map[string]abi.Option{"region": had["region"], "keyId": {Type: "string"}} // which is no secret any more
	s, warning := f.patch(t, "demo", `{}`)
	if !strings.Contains(warning, "keyId, numCtx are unknown to test 1.0.0") || string(encoded(t, s.Options)) != `{"numCtx":7,"region":"eu-1"}` {
		t.Errorf("options %s, warning %q", encoded(t, s.Options), warning)
	}
	f.ask(t, hello)
	if got := fmt.Sprintf("%s", f.source.Requests()[0].Options); strings.Contains(got, "numCtx") || strings.Contains(got, "keyId") {
		t.Errorf("the plugin was told %s", got)
	}
	f.source.Is.Options = had
	if s, err := f.Workspace(t.Context(), "demo"); err != nil || string(encoded(t, s.Options)) != `{"keyId":"XXX...","numCtx":7,"region":"eu-1"}` {
		t.Errorf("back again: %s, %v", encoded(t, s.Options), err)
	}
	delete(f.sources, "test")
	if _, _, err := f.Patch(t.Context(), "demo", []byte(`{"options":{"numCtx":8}}`)); !apierr.Is(err, chaterr.InvalidChatOptions) {
		t.Errorf("an option for a plugin that is gone: %v", err)
	}
	if s, _ := f.patch(t, "demo", `{"options":null,"orgId":"o"}`); s.Options != nil {
		t.Errorf("a reset without a plugin leaves %s", encoded(t, s.Options))
	}
}

// TestOptionsOfAnAnswer looks at what the plugin is told and what is sent.
func TestOptionsOfAnAnswer(t *testing.T) {
	f := withOptions(t, say("text:x", "finish:stop"), say("text:x", "finish:stop"))
	if e := f.refuse(t, hello); e.Code != chaterr.InvalidChatOptions || !strings.Contains(e.Message, "options.region") {
		t.Errorf("without a required option: %v", e)
	}
	f.patch(t, "demo", `{"baseUrl":"https://llm.example.com","apiKey":"`+demoKey+`","options":{"region":"eu-1","keyId":"key-canary"}}`)
	f.ask(t, hello)
	in, out := f.source.Requests()[0], f.upstream.Sent()[0]
	told := map[string]string{}
	for name, v := range in.Options {
		told[name] = string(v)
	}
	if want := map[string]string{"apiKey": "true", "region": `"eu-1"`, "keyId": "true", "numCtx": "4096"}; !reflect.DeepEqual(told, want) || in.Settings.APIKey != "" {
		t.Errorf("the plugin was told %v and settings %+v, want %v and no key", told, in.Settings, want)
	}
	if c := out.Credential; c == nil || c.Auth == nil || c.Auth.Name != "key" || c.Values["apiKey"] != demoKey || out.Secrets["keyId"] != "key-canary" {
		t.Errorf("credential %+v, want that of the key: the pair lacks its other half", out.Credential)
	}
	if want := []string{"https://llm.example.com", "https://api.eu-1.example.com"}; !reflect.DeepEqual(out.Grants.HTTP, want) {
		t.Errorf("grants %q, want %q", out.Grants.HTTP, want)
	}
	f.patch(t, "demo", `{"options":{"secretKey":"s"}}`)
	f.ask(t, hello)
	if c := f.upstream.Sent()[1].Credential; c.Auth == nil || c.Auth.Name != "pair" {
		t.Errorf("credential %+v, want that of the pair, which is set now", c)
	}
}

// TestProjectOfKeyFile gives the plugin the project that a service account's key file
// names, where none is set, and nothing else of the file.
func TestProjectOfKeyFile(t *testing.T) {
	file := func(kind, project string) string {
		return fmt.Sprintf(`{"type":%q,"project_id":%q,"private_key":"canary-key","client_email":"canary@example.com"}`, kind, project)
	}
	for _, tt := range []struct {
		name, file, project, want string
	}{
		{"of the file", file("service_account", "project-1"), "", `"project-1"`},
		{"set", file("service_account", "project-1"), "own", `"own"`},
		{"against the pattern", file("service_account", "Canary/Project"), "", ""},
		{"not named", file("service_account", ""), "", ""},
		{"of another kind of file", file("authorized_user", "project-1"), "", ""},
		{"of no file", "canary-text", "", ""},
		{"without a file", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := withOptions(t, say("text:x", "finish:stop"))
			f.source.Is.Options = map[string]abi.Option{"account": {Type: "string", Secret: true}, "project": {Type: "string", Pattern: "[a-z0-9-]+"}}
			f.source.Is.Auth = []abi.Auth{{Name: "account", Scheme: abi.AuthGCPServiceAccount, Credentials: "${account}", Scopes: []string{"s"}, Project: "project"}}
			f.source.Is.Grants.HTTP = []string{"https://llm.example.com"}
			options := map[string]any{"account": tt.file}
			if tt.project != "" {
				options["project"] = tt.project
			}
			f.patch(t, "demo", string(encoded(t, map[string]any{"options": options})))
			f.ask(t, hello)
			told := f.source.Requests()[0].Options
			if got := string(told["project"]); got != tt.want {
				t.Errorf("the plugin was told the project %s, want %s", got, tt.want)
			}
			if all := fmt.Sprintf("%s", told); strings.Contains(strings.ToLower(all), "canary") {
				t.Errorf("the plugin was told %s", all)
			}
		})
	}
}

// TestRequiredKeyStandIn takes another way to sign in for a key that is required.
func TestRequiredKeyStandIn(t *testing.T) {
	f := withOptions(t, say("text:x", "finish:stop"))
	f.source.Is.Settings = map[string]abi.Setting{"apiKey": {Required: true}}
	f.patch(t, "demo", `{"apiKey":null,"options":{"region":"eu-1","keyId":"k"}}`)
	if e := f.refuse(t, hello); e.Code != chaterr.MissingChatAPIKey {
		t.Errorf("half of another way: %v", e)
	}
	f.patch(t, "demo", `{"options":{"secretKey":"s"}}`)
	f.ask(t, hello)
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
