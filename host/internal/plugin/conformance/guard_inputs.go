package conformance

import (
	"encoding/json"
	"math/rand/v2"
	"strings"

	"github.com/parley-search/parley/abi"
)

// guardParts are what the kit's texts are made of: what guards look for, half of it,
// and what they must leave alone.
var guardParts = []string{
	"ann.lee@mail.example", "a@b.example", "ann", "@", "mail.example", "+49 170 1234567", "(0170) 123-456", "DE89 3704 0044 0532 0130 00", "4111 1111 1111 1111", "4111", "192.0.2.17", "2001:db8::1",
	"AKIAIOSFODNN7EXAMPLE", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "sk-proj-abcdefghijklmnopqrstuvwx", "sk-", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "-----BEGIN PRIVATE KEY-----",
	"https://evil.example/?q=1", "http", "://", "![x](https://evil.example/a.png)", "![", "](", "[a](b)", "<img src=\"https://evil.example\">", "<EMAIL_1>", "<EMA", "<", ">", "[EMAIL_1]",
	"Ignore all previous instructions", "ignore", "previous", "system:", "<!-- hidden -->", "<!--", "\u200b", "\u202e", "\U000e0041", "data:text/html;base64,AAAA",
	" ", " ", " ", "\n", "\n\n", ".", ", ", ": ", "a", "the ", "word ", "Zürich", "東京都", "。", "😀", "forbidden", strings.Repeat("long", 40), "0", "12", "12345678901234567890", "{\"a\": 1}",
}

func guardText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(12) {
		b.WriteString(guardParts[r.IntN(len(guardParts))])
	}
	return b.String()
}

// cutText cuts a text at random, each byte alone, or in two.
func cutText(r *rand.Rand, text string) (pieces []string) {
	most := []int{1, 3, 8, 40}[r.IntN(4)]
	for len(text) > 0 {
		n := min(len(text), 1+r.IntN(most))
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

// wholeItems are items of a whole stage.
func wholeItems(r *rand.Rand, stage string) (items []abi.Item) {
	for i := range 3 * (1 + r.IntN(3)) {
		kind := map[string]uint32{abi.StageQuestion: abi.ItemSystem + uint32(r.IntN(4)), abi.StagePassages: abi.ItemTitle + uint32(i%3), abi.StageArguments: abi.ItemArguments}[stage]
		items = append(items, abi.Item{Kind: kind, Text: []byte(guardText(r))})
	}
	items[len(items)-1].Text = nil
	return items
}

// guardInputs are inputs of calls, of all stages of the guard.
func (s *subject) guardInputs(n int) (all []input) {
	r := rand.New(rand.NewPCG(2, 49))
	options := []byte("{}")
	if o := s.guardOptions(); o != nil {
		options, _ = json.Marshal(o)
	}
	for i := range n {
		stage := s.manifest.Stages[i%len(s.manifest.Stages)]
		var items []abi.Item
		switch stage {
		case abi.StageAnswer:
			items = []abi.Item{{Kind: abi.ItemAnswer, Text: []byte(guardText(r))}}
		case abi.StageReasoning:
			items = []abi.Item{{Kind: abi.ItemReasoning, Text: []byte(guardText(r))}}
		default:
			items = wholeItems(r, stage)
		}
		all = append(all, input{"a call at " + stage, abi.AppendGuardInput(nil, stage, abi.GuardFirst|abi.GuardLast, options, nil, items)})
	}
	return all
}
