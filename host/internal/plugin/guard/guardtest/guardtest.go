// Package guardtest has a guard in Go, for tests of what runs guards.
package guardtest

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// A Mask is a guard that gives the model <E1> in place of an address, puts addresses
// back in what leaves, and blocks the word forbidden.
type Mask struct {
	Is    abi.Manifest
	Fail  error // that calls end with
	Calls int
	Hangs chan struct{} // not nil: a call waits until its ctx ends; what begins and ends is sent
}

// NewMask returns a guard called name.
func NewMask(name string) *Mask {
	return &Mask{Is: abi.Manifest{
		ABI: 2, Kind: abi.KindGuard, Name: name, Version: "1.0.0", Stages: abi.Stages, HoldBack: 16, Notes: []string{"address"},
		Triggers: []abi.Trigger{{Bytes: "<"}, {Text: word}},
		Options:  map[string]abi.Option{"how": {Type: abi.OptionString, Enum: []string{"refusal", "error"}, Default: abi.RawJSON(`"refusal"`)}},
	}}
}

const word = "forbidden"

var (
	address = regexp.MustCompile(`[a-z0-9.]+@[a-z0-9.]*[a-z0-9]`)
	mark    = regexp.MustCompile(`^<E([0-9]{1,3})>`)
	begun   = regexp.MustCompile(`^<(E[0-9]{0,3})?$`)
)

// Manifest implements [guard.Plugin].
func (m *Mask) Manifest() *abi.Manifest { return &m.Is }

// Guard implements [guard.Plugin].
func (m *Mask) Guard(ctx context.Context, in, dst []byte) ([]byte, error) {
	m.Calls++
	if m.Hangs != nil {
		m.Hangs <- struct{}{}
		<-ctx.Done()
		m.Hangs <- struct{}{}
		return dst, context.Cause(ctx)
	}
	call, err := abi.ParseGuardInput(in)
	if err != nil || m.Fail != nil {
		return dst, cmpErr(m.Fail, err)
	}
	var known []string
	if len(call.State) > 0 {
		known = strings.Split(string(call.State), "\n")
	}
	how := uint8(abi.BlockRefusal)
	if bytes.Contains(call.Options, []byte(`"error"`)) {
		how = abi.BlockError
	}
	stage := abi.Stages[call.Stage-1]
	last := call.Flags&abi.GuardLast != 0
	var records []byte
	for i := 0; ; i++ {
		item, ok := call.Next()
		if !ok {
			break
		}
		switch stage {
		case abi.StageQuestion, abi.StagePassages:
			if at := bytes.Index(item.Text, []byte(word)); at >= 0 {
				records = abi.AppendBlock(records, i, how, "We do not talk about this.")
				if stage == abi.StageQuestion {
					return output(dst, known, records), nil
				}
				continue
			}
			for _, at := range address.FindAllIndex(item.Text, -1) {
				found := string(item.Text[at[0]:at[1]])
				n := slices.Index(known, found)
				if n < 0 {
					n, known = len(known), append(known, found)
				}
				records = abi.AppendEdit(records, i, at[0], at[1]-at[0], fmt.Sprintf("<E%d>", n+1))
				records = abi.AppendNote(records, 0)
			}
		default:
			var blocked bool
			records, blocked = out(records, i, item.Text, known, how, last, stage != abi.StageArguments)
			if blocked {
				return output(dst, known, records), nil
			}
		}
	}
	return output(dst, known, records), nil
}

// out restores the addresses of a text that leaves.
func out(records []byte, item int, text []byte, known []string, how uint8, last, stream bool) (_ []byte, blocked bool) {
	release := func(n int) {
		if stream {
			records = abi.AppendRelease(records, n)
		}
	}
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		if bytes.HasPrefix(rest, []byte(word)) {
			release(i)
			return abi.AppendBlock(records, item, how, "We do not talk about this."), true
		}
		if m := mark.FindSubmatch(rest); m != nil {
			if n, _ := strconv.Atoi(string(m[1])); n >= 1 && n <= len(known) {
				records = abi.AppendEdit(records, item, i, len(m[0]), known[n-1])
			}
			i += len(m[0]) - 1
			continue
		}
		if stream && !last && (strings.HasPrefix(word, string(rest)) || begun.Match(rest)) {
			release(i)
			return records, false
		}
	}
	release(len(text))
	return records, false
}

func output(dst []byte, known []string, records []byte) []byte {
	state := strings.Join(known, "\n")
	dst = append(dst, byte(len(state)), byte(len(state)>>8), 0, 0)
	return append(append(dst, state...), records...)
}

func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Plugins are guards by name.
type Plugins map[string]guard.Plugin

var _ guard.Plugins = Plugins{}

// GuardManifest implements [guard.Plugins].
func (p Plugins) GuardManifest(name string) (*abi.Manifest, bool) {
	g, ok := p[name]
	if !ok {
		return nil, false
	}
	return g.Manifest(), true
}

// AcquireGuard implements [guard.Plugins].
func (p Plugins) AcquireGuard(_ context.Context, name string, _ provider.Client) (guard.Plugin, func(), bool) {
	g, ok := p[name]
	return g, func() {}, ok
}

// GuardNames implements [guard.Plugins].
func (p Plugins) GuardNames() (names []string) {
	for name := range p {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Nothing is a guard that lets everything through at once.
type Nothing struct{}

// Manifest implements [guard.Plugin].
func (Nothing) Manifest() *abi.Manifest {
	return &abi.Manifest{ABI: 2, Kind: abi.KindGuard, Name: "nothing", Version: "1.0.0", Stages: []string{abi.StageQuestion, abi.StagePassages, abi.StageAnswer, abi.StageReasoning}}
}

// Guard implements [guard.Plugin].
func (Nothing) Guard(_ context.Context, in, dst []byte) ([]byte, error) {
	call, err := abi.ParseGuardInput(in)
	if err != nil {
		return dst, err
	}
	var records []byte
	if item, ok := call.Next(); ok && (item.Kind == abi.ItemAnswer || item.Kind == abi.ItemReasoning) {
		records = abi.AppendRelease(nil, len(item.Text))
	}
	return output(dst, nil, records), nil
}
