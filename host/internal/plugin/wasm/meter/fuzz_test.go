package meter_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

const allFeatures = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall

// FuzzMeter runs generated modules as they are and metered: results, traps,
// memory and globals must be the same, call after call.
func FuzzMeter(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(randomBytes(seed))
	}
	f.Fuzz(func(t *testing.T, choices []byte) { differ(t, choices) })
}

// TestGenerated is a longer run of what FuzzMeter does.
func TestGenerated(t *testing.T) {
	n := uint64(120)
	if os.Getenv("LONG") != "" {
		n = 600
	}
	var yields, traps, results int
	for seed := range n {
		y, trapped, ok := differ(t, randomBytes(1000+seed))
		yields, traps, results = yields+y, traps+trapped, results+ok
	}
	t.Logf("%d yields, %d traps, %d results", yields, traps, results)
	if yields < int(n) || traps < int(n)/10 || results < int(n) {
		t.Error("the generated modules do too little to compare")
	}
}

func randomBytes(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, 100+r.IntN(600))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func differ(t *testing.T, choices []byte) (yields, traps, results int) {
	t.Helper()
	bin, funcs := generate(choices)
	p := newPair(t, allFeatures)
	defer p.close()
	p.slice = 1 + int32(len(choices)%100)
	made, errs := p.instantiate(bin, "")
	if errs[0] != nil || errs[1] != nil {
		t.Fatalf("instantiate: metered %v, original %v", errs[1], errs[0])
	}
	for n := range 2 * funcs {
		where := fmt.Sprintf("call %d of f%d", n, n%funcs)
		var got [2][]uint64
		for k, m := range made {
			// Each call has its own count of turns.
			m.ExportedGlobal("turns").(api.MutableGlobal).Set(turnLimit)
			got[k], errs[k] = m.ExportedFunction(fmt.Sprintf("f%d", n%funcs)).Call(context.Background(), uint64(n), 1000)
		}
		if !compareErrors(t, where, errs) {
			break
		}
		if errs[0] != nil {
			traps++
		} else {
			results++
		}
		if !slices.Equal(got[0], got[1]) {
			t.Errorf("%s: metered %v, original %v", where, got[1], got[0])
		}
		var mem [2][]byte
		for k, m := range made {
			mem[k], _ = m.Memory().Read(0, m.Memory().Size())
		}
		if !bytes.Equal(mem[0], mem[1]) {
			t.Errorf("%s: the memories differ", where)
		}
		for _, name := range []string{"number", "turns"} {
			if a, b := made[0].ExportedGlobal(name).Get(), made[1].ExportedGlobal(name).Get(); a != b {
				t.Errorf("%s: global %s is %d metered, %d in the original", where, name, b, a)
			}
		}
	}
	return p.yields, traps, results
}

// FuzzRewrite feeds Rewrite anything at all: it returns, what it makes is
// bounded, the same each time, and valid just where the original is.
func FuzzRewrite(f *testing.F) {
	for seed := range uint64(20) {
		bin, _ := generate(randomBytes(seed))
		f.Add(bin)
	}
	files, err := filepath.Glob("../testdata/*.wasm")
	if err != nil || len(files) == 0 {
		f.Fatalf("no guests: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, bin []byte) {
		kept := bytes.Clone(bin)
		out, _, err := meter.Rewrite(bin)
		if !bytes.Equal(kept, bin) {
			t.Error("Rewrite changed its input")
		}
		if err != nil {
			return
		}
		if len(out) > 20*len(bin)+100 {
			t.Errorf("%d bytes became %d", len(bin), len(out))
		}
		if again, _, err := meter.Rewrite(bin); err != nil || !bytes.Equal(out, again) {
			t.Errorf("Rewrite again: %v, other bytes", err)
		}
		ctx := context.Background()
		r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(allFeatures))
		defer r.Close(ctx)
		_, plain := r.CompileModule(ctx, bin)
		_, metered := r.CompileModule(ctx, out)
		if plain != nil && strings.Contains(plain.Error(), "custom section name") {
			return // to the specification that is no fault, and here it is left out
		}
		if (plain == nil) != (metered == nil) {
			t.Errorf("valid: metered %v, original %v", metered, plain)
		}
	})
}
