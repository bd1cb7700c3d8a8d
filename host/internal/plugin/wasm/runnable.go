package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

var errMemory64 = errors.New("it has a memory of 64-bit addresses (memory64), which the host does not run: build it for wasm32")

// Runnable says why no host could compile module: a feature that it does not have, by its
// name, or code that is not valid. It compiles nothing to machine code, and runs nothing.
func Runnable(module []byte) (err error) {
	defer contain(&err)
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2))
	defer r.Close(ctx) // it holds memory alone
	_, err = r.CompileModule(ctx, module)
	if err == nil {
		return nil
	}
	if _, described := Describe(module); errors.Is(described, errMemory64) {
		return described
	}
	if feature := meter.Feature(module); feature != "" {
		return fmt.Errorf("it uses %s, which the host does not run: build it without, for WebAssembly 2.0", feature)
	}
	return fmt.Errorf("the host cannot compile it: %w", err)
}
