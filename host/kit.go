package host

import (
	"context"
	"time"

	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/internal/kit"
)

// A Trial says how a plugin is tried, see [CheckPlugin], [MeasurePlugin] and [OpenReplayer].
// The zero value works.
type Trial struct {
	// Compiler is as in [Options]: it compiles the module in a process of its own.
	Compiler []string
	// CacheDir keeps compiled code between runs; empty: nowhere.
	CacheDir string
	// Cases is a folder of *.case files: responses and what the plugin must make
	// of them. Empty: none.
	Cases string
	// Body is a response whose events are measured; nil: those of the cases, or
	// of what the host knows of LLM APIs.
	Body []byte
	// CallTimeout bounds one call; default 2s, as in a host.
	CallTimeout time.Duration
}

// CheckPlugin holds a module in any language to the contract.
func CheckPlugin(ctx context.Context, module []byte, t Trial) (*kit.Report, error) {
	o, err := t.options()
	if err != nil {
		return nil, err
	}
	return kit.Check(ctx, module, o)
}

// MeasurePlugin says what a module costs.
func MeasurePlugin(ctx context.Context, module []byte, t Trial) (*kit.Figures, error) {
	o, err := t.options()
	if err != nil {
		return nil, err
	}
	return kit.Measure(ctx, module, t.Body, o)
}

func (t Trial) options() (o kit.Options, err error) {
	o.Compiler, o.CacheDir, o.CallTimeout = t.Compiler, t.CacheDir, t.CallTimeout
	if t.Cases != "" {
		o.Cases, err = response.ReadCases(t.Cases)
	}
	return o, err
}
