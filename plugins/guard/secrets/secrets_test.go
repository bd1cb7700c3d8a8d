package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/guard"
	"github.com/parley-search/parley/sdk/plugintest"
)

const (
	alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	hexa  = "0123456789abcdef"
)

// shapes are how secrets look: {64h} stands for so many of hexadecimal, a is letters and
// digits, u capitals. They are made at random, so no real one is here.
var shapes = []string{
	"AKIA{16u}", "ASIA{16u}", "AIza{35a}", "ya29.{60a}", "ghp_{36a}", "gho_{36a}", "ghs_{36a}", "github_pat_{22a}_{59a}", "glpat-{20a}",
	"xoxb-{11d}-{12d}-{24a}", "xoxp-{11d}-{11d}-{12d}-{32h}", "https://hooks.slack.com/services/T{9u}/B{9u}/{24a}", "sk-{48a}", "sk-proj-{60a}",
	"sk-ant-api03-{93a}", "sk_live_{24a}", "rk_test_{24a}", "npm_{36a}", "SG.{22a}.{43a}", "SK{32h}", "dop_v1_{64h}", "{32h}-us12",
	"AccountKey={86a}==", "eyJ{30a}.eyJ{80a}.{43a}", "postgres://app:{12a}@db.example/x", "aws_secret_access_key = {40a}", "pypi-AgE{100a}",
	"-----BEGIN PRIVATE KEY-----\n{64a}\n{64a}\n{20a}==\n-----END PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\\n{64a}\\n{40a}=\\n-----END RSA PRIVATE KEY-----",
	"-----BEGIN OPENSSH PRIVATE KEY-----\n{70a}\n{70a}\n{9a}\n-----END OPENSSH PRIVATE KEY-----",
	// The last ones are behind a word, or of forms that are not known here: those count as missed.
	"password: {16a}", "Authorization: Bearer {40a}", "{64h}", "AIza{20a}", "tpuf_{20a}",
}

func make1(rnd *rand.Rand, shape string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(shape, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		form, after, _ := strings.Cut(rest, "}")
		n, letters := 0, map[byte]string{'a': alnum, 'u': upper, 'h': hexa, 'd': "0123456789"}[form[len(form)-1]]
		fmt.Sscan(form[:len(form)-1], &n)
		for range n {
			b.WriteByte(letters[rnd.IntN(len(letters))])
		}
		shape = after
	}
}

// TestMeasured looks for secrets of each shape in eight sentences, whole and in pieces,
// and for false alarms in texts that have none.
func TestMeasured(t *testing.T) {
	d := plugintest.NewGuard(t, &secrets{}, "manifest.json")
	rnd := rand.New(rand.NewPCG(49, 2))
	var score plugintest.Score
	for _, shape := range shapes {
		for i, sentence := range []string{"Use %s here.", "export KEY=%s", `{"key": "%s"}`, "钥匙是%s。", "Der Schlüssel lautet %s, bitte löschen", "(%s)", "`%s`", "%s"} {
			secret := make1(rnd, shape)
			text := fmt.Sprintf(sentence, secret)
			d.Begin()
			whole := d.Whole(guard.Question, plugintest.User(text))
			d.Begin()
			stream := d.Cuts(guard.Answer, text, 30)
			if whole.Text() != stream.Text() {
				t.Errorf("%q: whole %q, as a stream %q", text, whole.Text(), stream.Text())
			}
			if strings.Contains(whole.Text(), secret[len(secret)/3:2*len(secret)/3]) {
				score.Missed++
				if i == 0 {
					t.Logf("missed: %s", text)
				}
			} else {
				score.Right++
			}
			for _, after := range []string{"here.", "bitte löschen"} {
				if strings.Contains(text, after) && !strings.Contains(whole.Text(), after) {
					t.Errorf("%q became %q: what is behind the secret is gone", text, whole.Text())
				}
			}
		}
	}
	b, err := os.ReadFile("../mask/testdata/harmless.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := append(strings.Split(string(b), "\n"),
		"AKIAIOSFODNN7EXAMPLE and ASIAIOSFODNN7EXAMPLE are the makers' own.", "sk-your-api-key-goes-here-please", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"postgres://user:password@localhost/db", "https://host.example/a@b", "git revert a94a8fe5ccb19ba61c4c0873d391e987982fbbd3", "task-skeleton-of-a-long-name-with-dashes",
		"apiKey: YOUR_API_KEY_HERE_PLACEHOLDER", "-----BEGIN CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----", "eyJhbGciOi is how a JWT begins", "risk-assessment-2025-of-all-departments-and-sites",
		"sk_live_ and rk_test_ are beginnings.", "https://${USER}:${PASSWORD}@host.example", "AIza is a beginning, too", "SK is a country")
	for _, line := range lines {
		if got := d.Whole(guard.Question, plugintest.User(line)); got.Text() != line {
			score.False++
			t.Logf("false alarm: %q became %q", line, got.Text())
		}
	}
	second, texts := plugintest.Score{}, 0
	for _, line := range readHoldout(t, rnd) {
		text, want := plugintest.ReadMarked(line)
		texts++
		got := d.Whole(guard.Question, plugintest.User(text))
		for _, s := range want {
			if slices.ContainsFunc(got.Edits, func(e [2]int) bool { return e[0] <= s.Start && s.End <= e[1] }) {
				second.Right++
			} else {
				second.Missed++
				t.Logf("missed %q in %q", text[s.Start:s.End], text)
			}
		}
		for _, e := range got.Edits {
			if !slices.ContainsFunc(want, func(s plugintest.Span) bool { return e[0] < s.End && s.Start < e[1] }) {
				second.False++
				t.Logf("false alarm: %q in %q", text[e[0]:e[1]], text)
			}
		}
	}
	plugintest.HoldTable(t, "README.md", fmt.Sprintf("| texts | secrets | precision | recall |\n|---|---|---|---|\n%s", score.Row(fmt.Sprintf("%d shapes in 8 sentences; %d lines without", len(shapes), len(lines)))+second.Row(fmt.Sprintf("%d texts of the second set", texts))))
}

// readHoldout returns the lines of the second set, with signs at random in their places.
func readHoldout(t *testing.T, rnd *rand.Rand) (lines []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/holdout.txt")
	if err != nil {
		t.Fatal(err)
	}
	place := regexp.MustCompile(`\{(\d+):([aludhw])\}`)
	sets := map[string]string{"a": alnum, "l": alnum[26:], "u": alnum[:26] + alnum[52:], "d": alnum[52:], "h": hexa, "w": alnum + "-_"}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "# ") {
			continue
		}
		lines = append(lines, place.ReplaceAllStringFunc(strings.TrimSpace(line), func(s string) string {
			m := place.FindStringSubmatch(s)
			n, _ := strconv.Atoi(m[1])
			signs := make([]byte, n)
			for i := range signs {
				signs[i] = sets[m[2]][rnd.IntN(len(sets[m[2]]))]
			}
			return string(signs)
		}))
	}
	return lines
}

func TestBlock(t *testing.T) {
	d := plugintest.NewGuard(t, &secrets{}, "manifest.json")
	d.SetOptions(`{"action": "block", "message": "No keys here."}`)
	token := make1(rand.New(rand.NewPCG(1, 1)), "ghp_{36a}")
	got := d.Cuts(guard.Answer, "It is "+token+" now", 100)
	if got.Text() != "It is " || got.Blocked != "No keys here." || got.How != abi.BlockRefusal {
		t.Errorf("got %+v, want a refusal behind %q", got, "It is ")
	}
}
