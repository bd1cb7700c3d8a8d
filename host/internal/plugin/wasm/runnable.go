package wasm

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Runnable says why no host could compile module: a feature that it does not have, by its
// name, or code that is not valid. It compiles nothing to machine code, and runs nothing.
func Runnable(module []byte) (err error) {
	defer contain(&err)
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2))
	defer r.Close(ctx) // it holds memory alone
	if _, err = r.CompileModule(ctx, module); err != nil {
		return explain(module, fmt.Errorf("the host cannot compile it: %w", err))
	}
	return nil
}

// disabled is in the errors of wazero about a feature that it has, and hosts do not use.
var disabled = regexp.MustCompile(`feature "([a-z-]+)" is disabled`)

// explain returns the feature for which a host cannot read or compile module, by its name,
// or else err, which says it by what was in the way.
func explain(module []byte, err error) error {
	_, _, refused := meter.Rewrite(module)
	feature, known := errors.AsType[meter.Feature](refused)
	if m := disabled.FindStringSubmatch(err.Error()); !known && m != nil {
		feature, known = meter.Feature(m[1]), true
	}
	switch {
	case !known:
		return err
	case feature == meter.Memory64:
		return fmt.Errorf("it uses %s, which the host does not run: build it for wasm32", string(feature))
	default:
		return fmt.Errorf("it uses %s, which the host does not run: build it without, for WebAssembly 2.0", string(feature))
	}
}
