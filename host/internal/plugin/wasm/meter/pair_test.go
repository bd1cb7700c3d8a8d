package meter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// A pair is two runtimes: in the first modules run as they are, in the second
// metered.
type pair struct {
	t        testing.TB
	runtimes [2]wazero.Runtime
	slice    int32  // what yield gives
	yields   int    // how often it was called
	deepest  uint32 // what it was told of the stack at most
	// most is how many yields there may be until the guest is stopped; 0 means
	// that it never is.
	most int
}

// twins are the instances of one module in both.
type twins [2]api.Module

// A refusal is an error of Rewrite.
type refusal struct{ error }

var errStopped = fmt.Errorf("stopped by the meter")

func newPair(t testing.TB, features api.CoreFeatures) *pair {
	t.Helper()
	p := &pair{t: t, slice: 1000}
	ctx := context.Background()
	for k := range p.runtimes {
		p.runtimes[k] = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCoreFeatures(features).WithMemoryLimitPages(4096))
	}
	i32 := api.ValueTypeI32
	_, err := p.runtimes[1].NewHostModuleBuilder(meter.Module).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, stack []uint64) {
			if left := int32(stack[0]); left >= 0 {
				panic(fmt.Sprintf("yield called with %d", left))
			}
			if p.yields++; p.most > 0 && p.yields > p.most {
				panic(errStopped)
			}
			p.deepest = max(p.deepest, uint32(stack[1]))
			stack[0] = uint64(p.slice)
		}), []api.ValueType{i32, i32}, []api.ValueType{i32}).Export(meter.Yield).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pair) close() {
	for _, r := range p.runtimes {
		if err := r.Close(context.Background()); err != nil {
			p.t.Error(err)
		}
	}
}

// instantiate makes twins of bin.
func (p *pair) instantiate(bin []byte, name string) (made *twins, errs [2]error) {
	ctx := context.Background()
	made = &twins{}
	config := wazero.NewModuleConfig().WithName(name).WithStartFunctions()
	made[0], errs[0] = p.runtimes[0].InstantiateWithConfig(ctx, bin, config)
	metered, _, err := meter.Rewrite(bin)
	if err != nil {
		errs[1] = refusal{err}
		return made, errs
	}
	made[1], errs[1] = p.runtimes[1].InstantiateWithConfig(ctx, metered, config)
	return made, errs
}

// A specValue is an argument: the bits of a number as decimal text, or lanes of
// such.
type specValue struct {
	Type     string
	LaneType string `json:"lane_type"`
	Value    json.RawMessage
}

// words returns v as wazero takes it.
func (v specValue) words(t *testing.T) []uint64 {
	t.Helper()
	if v.Type != "v128" {
		var text string
		if err := json.Unmarshal(v.Value, &text); err != nil || text == "null" {
			return []uint64{0}
		}
		n := number(t, text, v.Type)
		if v.Type == "externref" {
			n++ // none but null is 0
		}
		return []uint64{n}
	}
	var lanes []string
	if err := json.Unmarshal(v.Value, &lanes); err != nil {
		t.Fatal(err)
	}
	var words [2]uint64
	bits := 128 / len(lanes)
	for i, lane := range lanes {
		n := number(t, lane, v.LaneType)
		if bits < 64 {
			n &= 1<<bits - 1
		}
		words[i*bits/64] |= n << (i * bits % 64)
	}
	return words[:]
}

func number(t *testing.T, text, kind string) uint64 {
	t.Helper()
	if strings.HasPrefix(text, "nan") {
		if strings.Contains(kind, "32") {
			return 0x7fc00000
		}
		return 0x7ff8000000000000
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		signed, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		n = uint64(signed)
		if strings.Contains(kind, "32") {
			n &= 1<<32 - 1
		}
	}
	return n
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
