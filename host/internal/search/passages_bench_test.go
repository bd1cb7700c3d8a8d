//go:build unix

package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
)

// BenchmarkChatSearch asks questions of 10,000 and 60,000 passages as a chat does, and beside each the
// same words as a plain search of 20 hits, in turns. It reports the processor time of a question,
// collecting garbage included: the median, what one of a hundred takes more than, and how many times that
// of the plain search the median is.
func BenchmarkChatSearch(b *testing.B) {
	for _, n := range []int{10_000, 60_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := newRig(b)
			for _, uid := range []string{"chat", "plain"} {
				r.settings(uid, `{"searchableAttributes":["title","headings","text","path"],"filterableAttributes":["group","kind","lang","n","path"]}`)
			}
			r.settings("plain", `{"chat":{"passages":"off"}}`)
			var docs []struct{ Text string }
			for from := 0; from < n; from += 5000 {
				body := syntheticPassages(from, from+5000)
				r.add("chat", body)
				r.add("plain", body)
				if err := json.Unmarshal([]byte(body), &docs); err != nil {
					b.Fatal(err)
				}
			}
			rng := rand.New(rand.NewPCG(21, 22))
			took := map[string][]time.Duration{}
			for b.Loop() {
				words := strings.Fields(docs[rng.IntN(len(docs))].Text) // of the last ones
				question := make([]string, 8)
				for i := range question {
					question[i] = words[rng.IntN(len(words))]
				}
				for _, uid := range []string{"chat", "plain"} {
					start := cpu(b)
					if _, err := r.svc.ChatSearch(context.Background(), auth.Everyone(), uid, strings.Join(question, " "), ""); err != nil {
						b.Fatal(err)
					}
					took[uid] = append(took[uid], cpu(b)-start)
				}
			}
			at := func(uid string, percent int) float64 {
				list := slices.Sorted(slices.Values(took[uid]))
				return list[len(list)*percent/100].Seconds() * 1000
			}
			b.ReportMetric(at("chat", 50), "p50-ms")
			b.ReportMetric(at("chat", 99), "p99-ms")
			b.ReportMetric(at("plain", 50), "plain-p50-ms")
			b.ReportMetric(at("plain", 99), "plain-p99-ms")
			b.ReportMetric(at("chat", 50)/at("plain", 50), "times")
		})
	}
}

// syntheticPassages makes documents as an import makes them of pages with 20 passages each, of words that
// are spread as words of a language are.
func syntheticPassages(from, to int) string {
	rng := rand.New(rand.NewPCG(19, uint64(from)))
	zipf := rand.NewZipf(rng, 1.1, 4, 30_000)
	text := func(n int) string {
		var b strings.Builder
		for range n {
			for k, i := zipf.Uint64(), 0; i < 3 || k > 0; i++ {
				b.WriteByte("bcdfghklmnprst"[k%14])
				k /= 14
				b.WriteByte("aeiou"[k%5])
				k /= 5
			}
			b.WriteByte(' ')
		}
		return b.String()
	}
	return docsJSON(from, to-from, func(i int) string {
		return fmt.Sprintf(`"group":"g","path":"p/%d.md","title":%q,"headings":[%q],"text":%q,"n":%d,"kind":"md","contentHash":"x"`,
			i/20, text(4), text(3), text(90), i%20)
	})
}
