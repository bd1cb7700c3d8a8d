package limit_test

import (
	"testing"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/access/limit/limittest"
)

// BenchmarkAnswer is all that limits add to an answer of one round: let it by, settle
// it, say what is left, end it.
func BenchmarkAnswer(b *testing.B) {
	all := `{"requestsPerMinute":9000000000000000,"tokensPerMinute":9000000000000000,"parallel":1000,"tokens":{"amount":9000000000000000,"period":"month"}}`
	for _, tt := range []struct{ name, key, workspace string }{
		{"counted", `null`, `null`},
		{"limited", all, all},
	} {
		b.Run(tt.name, func(b *testing.B) {
			l := limit.New(limit.Options{Storage: &limittest.Memory{}})
			key, workspace := of(b, limit.Key("a"), tt.key), of(b, limit.Workspace("w"), tt.workspace)
			b.ReportAllocs()
			for b.Loop() {
				var p limit.Pass
				if _, err := l.Admit(&p, key, workspace, 1100); err != nil {
					b.Fatal(err)
				}
				p.Settle(400, 600)
				_ = p.State()
				p.End()
			}
		})
	}
}
