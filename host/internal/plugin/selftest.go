package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// selfTest makes the calls that the plugin's own manifest asks for and returns
// an error for the first that is not answered as it says.
func (s *session) selfTest(ctx context.Context) error {
	for n := range s.manifest.SelfTest {
		t := &s.manifest.SelfTest[n]
		if err := s.selfTestOne(ctx, t); err != nil {
			return selfTestFailed(n, t, err)
		}
	}
	return nil
}

// selfTestFailed says of which self-test err is.
func selfTestFailed(n int, t *abi.SelfTest, err error) error {
	name := t.Name
	if name == "" {
		name = fmt.Sprint("number ", n+1)
	}
	return fmt.Errorf("self-test %s, call %s: %w", quote(name), t.Call, err)
}

func (s *session) selfTestOne(ctx context.Context, t *abi.SelfTest) error {
	var found any
	var err error
	switch t.Call {
	case abi.SelfTestEncode:
		var in abi.EncodeRequest
		if err := json.Unmarshal(t.Input, &in); err != nil {
			return fmt.Errorf("its input is not an encode request: %w", err)
		}
		var out *abi.EncodeResponse
		if out, err = s.Encode(ctx, &in); err == nil {
			err = checkDescribed(out)
		}
		found = out
	case abi.SelfTestDecode:
		found, err = s.decodeWhole(ctx, t.Input)
	case abi.SelfTestError:
		var in abi.ErrorRequest
		if err := json.Unmarshal(t.Input, &in); err != nil {
			return fmt.Errorf("its input is not an error request: %w", err)
		}
		found, err = s.Error(ctx, &in)
	default:
		return fmt.Errorf("no call of a %s", s.manifest.Kind)
	}
	if e, ok := errors.AsType[*provider.CallError](err); ok && e.Kind == provider.Declared {
		found, err = map[string]any{"declared": map[string]any{"code": e.Code, "message": e.Message}}, nil
	}
	if err != nil {
		return err
	}
	return compare(t.Output, found)
}

// compare returns an error that names the first member of want, an object, that
// found, which is put as JSON, does not have in the same way.
func compare(want []byte, found any) error {
	b, err := json.Marshal(found)
	if err != nil {
		return err
	}
	var wanted, got map[string]any
	if err := errors.Join(json.Unmarshal(want, &wanted), json.Unmarshal(b, &got)); err != nil {
		return fmt.Errorf("its output is not an object: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if !reflect.DeepEqual(wanted[name], got[name]) {
			return fmt.Errorf("%s: want %s, got %s", name, short(wanted[name]), short(got[name]))
		}
	}
	return nil
}

// short shows a value as JSON, cut where it is long.
func short(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it came of JSON
	s := plain(b.String())
	if len(s) > 256 {
		s = s[:256] + "…"
	}
	return s
}
