package conformance

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/testdata/vectors"
)

// checkVectors gives the guest what every guest must be able to read, and what
// none may take for good.
func checkVectors(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	n := 0
	for _, file := range []string{"decode-input.json", "decode-input-bad.json"} {
		all, err := readVectors(file)
		if err != nil {
			return "", err
		}
		for _, v := range all {
			n++
			r, err := g.call(abi.FuncDecode, input{fmt.Sprintf("the vector %q of %s", v.Name, file), v.Hex})
			if err != nil {
				return "", err
			}
			if file == "decode-input-bad.json" && r.declared == nil && len(r.answer) > 4 {
				return "", fmt.Errorf("the vector %q of %s, which is not a decode input, is answered with %s", v.Name, file, r)
			}
		}
	}
	return fmt.Sprintf("%d of decode input", n), nil
}

// A vector is what the kit reads of the contract's.
type vector struct {
	Name string
	Hex  hexBytes
}

// hexBytes are written as hexadecimal digits.
type hexBytes []byte

// UnmarshalText implements [encoding.TextUnmarshaler].
func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

func readVectors(file string) ([]vector, error) {
	b, err := vectors.Files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var f struct{ Vectors []vector }
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return f.Vectors, nil
}
