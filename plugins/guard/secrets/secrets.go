package main

import (
	"bytes"
	"strings"

	"github.com/parley-search/parley/sdk/guard"
	"github.com/parley-search/parley/sdk/match"
)

// secrets finds keys and tokens by the forms that their makers have published, and puts a
// note in their place, or ends the answer.
type secrets struct{ state [1]byte }

// A form is how the secrets of one maker look.
type form struct {
	name    string
	pattern string
	check   func(secret []byte) bool
}

var forms = []form{
	{"AWS key", `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`, notExample},
	{"AWS secret key", `(?i)\baws_?secret(?:_?access)?(?:_?key)?["']?\s?[:=]\s?["']?[A-Za-z0-9/+]{40}\b`, mixed},
	{"Google key", `\bAIza[0-9A-Za-z_-]{35}`, mixed},
	{"Google token", `\bya29\.[0-9A-Za-z_-]{20,200}`, nil},
	{"Google secret", `\bGOCSPX-[0-9A-Za-z_-]{28}`, nil},
	{"GitHub token", `\bgh[pousr]_[A-Za-z0-9]{36,250}`, mixed},
	{"GitHub token", `\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`, nil},
	{"GitLab token", `\bgl(?:pat|rt|dt|ptt|oas|ft|imt|agent|soat|cbt|ffct)-[0-9A-Za-z_-]{20,64}`, mixed},
	{"Slack token", `\bxox[abeoprs]-(?:\d-)?[0-9A-Za-z]{10,60}(?:-[0-9A-Za-z]{8,64}){0,5}`, mixed},
	{"Slack token", `\bxapp-\d-[A-Z0-9]{8,14}-\d{8,16}-[0-9a-f]{32,80}`, nil},
	{"Slack webhook", `(?:\bhttps://)?\bhooks\.slack\.com/(?:services|workflows)/T[A-Z0-9]{6,12}/[AB][A-Z0-9]{6,12}/[A-Za-z0-9/]{16,64}`, nil},
	{"OpenAI key", `\bsk-(?:[a-z]{2,12}-){0,2}(?:[a-z]{2,5}\d{2}-)?[0-9A-Za-z_-]{20,180}`, mixed},
	{"Discord webhook", `(?:\bhttps://)?\b(?:discord|discordapp)\.com/api/webhooks/\d{15,22}/[0-9A-Za-z_-]{40,100}`, nil},
	{"Stripe key", `\b(?:[sr]k_(?:live|test)|whsec)_[0-9A-Za-z]{16,120}`, mixed},
	{"npm token", `\bnpm_[A-Za-z0-9]{36}\b`, mixed},
	{"PyPI token", `\bpypi-AgE[0-9A-Za-z_-]{50,220}`, nil},
	{"Hugging Face token", `\b(?:hf|api_org)_[A-Za-z0-9]{34}\b`, nil},
	{"SendGrid key", `\bSG\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{43}`, nil},
	{"Twilio key", `\bSK[0-9a-f]{32}\b`, mixed},
	{"DigitalOcean token", `\bdo[por]_v1_[0-9a-f]{64}`, nil},
	{"Telegram token", `\b\d{8,10}:AA[0-9A-Za-z_-]{32,34}\b`, mixed},
	{"Terraform token", `\b[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_-]{60,70}`, nil},
	{"age key", `\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b`, nil},
	// Makers that put a name of theirs before letters and digits.
	{"API key", `\b(?:gsk|tpuf|pcsk|r8|ntn|secret|lin_api|dckr_[po]at|sbp|sb_secret|fw|nvapi|napi|jina|csk|fc|key|pscale_(?:tkn|pw)|figd|glsa|glc|phc|phx|sntry[su]|shp(?:at|ca|pa|ss)|rubygems|pul|sgp|AT[AC]TT3x|lsv2_[ps][tk]|dp\.[a-z]{2}\.|e2b|EAAA|sq0(?:csp|atp)|re|hv[sbr]\.|vcp|xai|pplx|tvly(?:-dev|-prod)?|llx|dapi|cio|PMAK|NRAK|HRKU-AA)[_-]?[0-9A-Za-z][0-9A-Za-z_=+/-]{19,240}`, random},
	// Behind a word that says what it is.
	{"credential", `(?i)\b[a-z0-9_-]{0,24}(?:password|passwd|passwort|secret|api_?-?key|access_?-?key|auth_?-?token|token|bearer|client_secret)["'*` + "`" + `]{0,2}(?:\s{0,2}[:=]{1,2}>?\s{0,2}|\s)["'` + "`" + `]?[0-9A-Za-z_=+/.~-]{16,200}`, random},
	{"Mailchimp key", `\b[0-9a-f]{32}-us\d{1,2}\b`, mixed},
	{"Azure key", `\bAccountKey=[A-Za-z0-9+/]{86}==`, nil},
	{"JWT", `\beyJ[0-9A-Za-z_-]{8,400}\.eyJ[0-9A-Za-z_-]{8,800}[0-9A-Za-z_-]{0,800}\.[0-9A-Za-z_-]{16,700}`, nil},
	{"password in a URL", `(?i)\b(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis|amqps?|https?)://[A-Za-z0-9._%-]{1,40}:[^\s/@"'<>{}$*]{6,80}@`, notWord},
	{"private key", `-----BEGIN (?:[A-Z0-9]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----`, nil},
}

// privateKey is the last one of forms: what follows it is taken out, too.
var privateKey = len(forms) - 1

var finder = func() *match.Matcher {
	var patterns []string
	for _, f := range forms {
		patterns = append(patterns, f.pattern)
	}
	return match.MustCompile(patterns...)
}()

// notExample: the makers' own examples say that they are some.
func notExample(b []byte) bool { return !bytes.Contains(b, []byte("EXAMPLE")) && mixed(b) }

// mixed: a key that was made at random has digits, and letters of many kinds. A
// placeholder such as sk-your-api-key-goes-here or ghp_xxxxxxxx… has not.
func mixed(b []byte) bool {
	var seen [128]bool
	digits, kinds := 0, 0
	tail := b[min(len(b), 4):]
	for _, c := range tail {
		if c >= '0' && c <= '9' {
			digits++
		}
		if c < 128 && !seen[c] {
			seen[c] = true
			kinds++
		}
	}
	return digits > 0 && kinds >= min(8, len(tail)/2)
}

// random: letters of both cases and digits follow each other as they do where they were drawn,
// and as they do in no word, name or date. Of an assignment it looks at the value.
func random(b []byte) bool {
	b = b[valueStart(b):]
	class := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return 1
		case c >= 'a' && c <= 'z':
			return 2
		case c >= 'A' && c <= 'Z':
			return 3
		}
		return 0
	}
	changes, digits := 0, 0
	for i, c := range b {
		if class(c) == 1 {
			digits++
		}
		if i > 0 && class(c) > 0 && class(b[i-1]) > 0 && class(c) != class(b[i-1]) {
			changes++
		}
	}
	return digits > 1 && changes*3 >= len(b)-3
}

// valueStart is where the value begins in an assignment; 0: there is none.
func valueStart(b []byte) int {
	return bytes.LastIndexAny(bytes.TrimRight(b, "="), " \t\n:=>\"'`*") + 1
}

// notWord: user:password@ is how a page says where both go.
func notWord(b []byte) bool {
	_, rest, _ := strings.Cut(string(b), "://")
	_, word, _ := strings.Cut(strings.TrimSuffix(rest, "@"), ":")
	switch strings.ToLower(word) {
	case "password", "passwort", "secret", "passwd", "your-password", "your_password", "yourpassword", "mypassword", "example", "changeme":
		return false
	}
	return !strings.Contains(strings.ToLower(word), "password")
}

func (g *secrets) Check(in *guard.In, out *guard.Out) error {
	block := in.Option("action") == "block"
	phase := byte(0) // of a private key under way: see skipKey
	if in.Stage.IsStream() && len(in.State) == 1 && !in.First {
		phase = in.State[0]
	}
	found := 0
	for i := range in.Items {
		text, from := in.Items[i].Text, 0
		if !in.Stage.IsStream() {
			phase = 0
		}
		for {
			if phase != 0 {
				var n int
				if n, phase = skipKey(text[from:], phase); n > 0 {
					out.Edit(i, from, n, "")
				}
				from += n
				if phase != 0 {
					break
				}
			}
			check := func(m match.Match) bool {
				c := forms[m.Pattern].check
				return c == nil || c(text[m.Start:m.End])
			}
			m, undecided, ok := finder.Find(text, from, in.Stage.IsStream() && in.AfterWord, !in.Stage.IsStream() || in.Last, check)
			if !ok {
				if in.Stage.IsStream() {
					out.Hold(undecided)
				}
				break
			}
			found++
			if block {
				out.Note(0)
				out.Refuse(i, m.Start, in.Option("message"))
				return nil
			}
			start := m.Start
			if forms[m.Pattern].name == "credential" || forms[m.Pattern].name == "AWS secret key" {
				start += valueStart(text[m.Start:m.End])
			}
			out.Edit(i, start, m.End-start, "["+forms[m.Pattern].name+" removed]")
			from = m.End
			if m.Pattern == privateKey {
				phase = 1
			}
		}
	}
	if found > 0 {
		out.Note(0)
	}
	if in.Stage.IsStream() {
		if g.state[0] = phase; phase != 0 {
			out.State(g.state[:])
		} else {
			out.State(nil)
		}
	}
	return nil
}

// skipKey returns how many bytes of b belong to a private key that has begun, and the phase
// behind them: 0 where the key has ended. Phases 1 to 5 are within the key, behind 0 to 4
// dashes; 6 is the line of its end, 7 to 10 that line's last dashes.
func skipKey(b []byte, phase byte) (n int, next byte) {
	for n, c := range b {
		switch {
		case c == '-' && phase == 10:
			return n + 1, 0
		case c == '-':
			phase++
		case phase == 6 && (c == ' ' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'):
		case phase >= 6, c >= 0x80, strings.IndexByte("!\"#$%&'()*;<>?@[]^_`{|}~", c) >= 0:
			return n, 0
		default:
			phase = 1
		}
	}
	return len(b), phase
}
