package plugin

import (
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// CheckExports says what an export of m's kind lacks or has wrong in shape;
// nil where a host can call all that it needs.
func CheckExports(shape *wasm.Shape, m *abi.Manifest) error { return checkExports(shape, m.Kind) }

// Limits are those that m's plugin runs under where o is what is allowed.
func (o Options) Limits(m *abi.Manifest) wasm.Limits { return limitsOf(m, o.withDefaults()) }

// CheckAnswer says why a host could not use answer, with which a call of a
// provider's export ended; nil where it could.
func CheckAnswer(export string, answer []byte) error {
	switch export {
	case abi.FuncDecode:
		if len(answer) == 0 {
			return nil // short for an empty state and no records
		}
		return checkDecodeOutput(answer)
	case abi.FuncEncode:
		var r abi.EncodeResponse
		if err := readEncodeResponse(answer, &r); err != nil {
			return err
		}
		if err := mendEncodeResponse(&r); err != nil {
			return err
		}
		return checkDescribed(&r)
	case abi.FuncError:
		return readObject(answer, &abi.ProviderError{})
	}
	return fmt.Errorf("no provider has an export %s", export)
}

// readObject reads a JSON object that crossed.
func readObject(answer []byte, into any) error {
	if len(answer) == 0 || answer[0] != '{' {
		return fmt.Errorf("want a JSON object, got %s", quote(string(answer)))
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("want a JSON object: %w", err)
	}
	return nil
}
