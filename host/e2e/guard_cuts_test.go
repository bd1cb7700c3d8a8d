package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// TestGuardCuts: what a client gets of the shipped guards, each alone and all behind each other, does not depend
// on how the stream was cut. CUTS=1000000 makes so many.
func TestGuardCuts(t *testing.T) {
	t.Parallel()
	cuts := 4000
	if n, err := strconv.Atoi(os.Getenv("CUTS")); err == nil {
		cuts = n
	}
	runtime, err := wasm.Open(wasm.Options{CacheDir: house.CompiledModules(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.Close()
	// What the guards look for, parts of it, and what they must let through.
	parts := []string{
		"<EMAIL_1>", "<EMAIL_2>", "<email_1>", "&lt;PHONE_1&gt;", `\<IBAN\_1\>`, "<EMAIL_9>", "<EMA", "IL_1>", "<", ">", "&", "&lt;", "ann@mail.example", "AKIA", "AKIA2345ABCDEFGH2345", "ghp_0123456789abcdefghijABCDEFGHIJ012345",
		"sk-proj-abcdefghij0123456789klmn", "sk-", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLWlzLWhlcmU", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq", "-----END PRIVATE KEY-----", "-----", "postgres://app:s3cr3tpw@db/x",
		"https://evil.example/?q=1", "https://docs.example/a", "http", "s://", "![x](https://evil.example/a.png)", "![", "](", ")", "[a](b)", "[r]: https://evil.example", "<img src=\"https://evil.example\">", "<a href='", "//evil.example", "www.evil.example",
		"forbidden", "forbid", "den", "For", " topic", "\xff", "\xe6\x9d", "東京", "。", "😀", "é", " ", " ", "\n", "\n\n", ". ", ", ", "a", "word ", "0", "12", "`", "```", strings.Repeat("long", 30), strings.Repeat("A1b2", 40), `{"a": "`, `"}`,
	}
	type use struct {
		p guard.Plugin
		u guard.Use
	}
	var all []use
	var chains [][]use
	for name, options := range map[string]string{"mask": `{}`, "secrets": `{}`, "links": `{}`, "topics": `{"topics":"forbidden topic"}`} {
		g, err := plugin.LoadGuard(t.Context(), runtime, house.Built(t, filepath.Join("plugins", "guard", name)), name, plugin.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		u, err := guard.ParseUses([]byte(fmt.Sprintf(`[{"plugin":%q,"options":%s}]`, name, options)))
		if err != nil {
			t.Fatal(err)
		}
		if err := u[0].Check(g.Manifest()); err != nil {
			t.Fatalf("guard %s: its %v", name, err)
		}
		all = append(all, use{g, u[0]})
	}
	slices.SortFunc(all, func(a, b use) int { return strings.Compare(a.u.Plugin, b.u.Plugin) })
	for i := range all {
		chains = append(chains, all[i:i+1])
	}
	chains = append(chains, all)
	r := rand.New(rand.NewPCG(49, uint64(cuts)))
	pass := func(c *guard.Chain, stage string, pieces []string) string {
		kind := abi.ItemAnswer
		if stage == abi.StageReasoning {
			kind = abi.ItemReasoning
		}
		s := c.Stream(stage, kind)
		if s == nil {
			return strings.Join(pieces, "")
		}
		var out []byte
		for i := 0; i <= len(pieces); i++ {
			var more []byte
			var err error
			if i < len(pieces) {
				more, err = s.Next(context.Background(), []byte(pieces[i]))
			} else {
				more, err = s.End(context.Background())
			}
			out = append(out, more...)
			if err != nil {
				if b, ok := errors.AsType[*guard.Blocked](err); !ok || b.Fault != nil {
					t.Fatalf("%q: %v", pieces, err)
				}
				return string(out) + "\x00" + err.Error()
			}
		}
		return string(out)
	}
	for _, uses := range chains {
		for done := 0; done < cuts/len(chains); {
			c := guard.New(nil)
			for i := range uses {
				c.Add(uses[i].p, &uses[i].u)
			}
			items := []abi.Item{{Kind: abi.ItemUser, Text: []byte("I am ann@mail.example, not bob.roe@post.example; +49 30 1234567, DE89 3704 0044 0532 0130 00.")}}
			if _, err := c.Whole(t.Context(), abi.StageQuestion, items); err != nil {
				t.Fatal(err)
			}
			passages := []abi.Item{{Kind: abi.ItemTitle}, {Kind: abi.ItemURL, Text: []byte("https://docs.example/a")}, {Kind: abi.ItemText, Text: []byte("A page.")}}
			if _, err := c.Whole(t.Context(), abi.StagePassages, passages); err != nil {
				t.Fatal(err)
			}
			state := c.State()
			var b strings.Builder
			for range 1 + r.IntN(10) {
				b.WriteString(parts[r.IntN(len(parts))])
			}
			text := b.String()
			stage := []string{abi.StageAnswer, abi.StageAnswer, abi.StageReasoning}[r.IntN(3)]
			want := pass(c, stage, []string{text})
			for range 20 {
				most := []int{1, 4, 12, 40}[r.IntN(4)]
				var pieces []string
				for rest := text; rest != ""; {
					n := min(len(rest), 1+r.IntN(most))
					pieces, rest = append(pieces, rest[:n]), rest[n:]
				}
				c.SetState(state)
				if got := pass(c, stage, pieces); got != want {
					t.Fatalf("%d guards from %s on, %s: cut as %q came %q, and as a whole %q", len(uses), uses[0].u.Plugin, stage, pieces, got, want)
				}
				done++
			}
		}
	}
}
