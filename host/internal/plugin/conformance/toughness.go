package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

// toughnessChecks give a provider what nobody should, and much of it.
func toughnessChecks() []check {
	return []check{
		{
			name: "empty input", about: "answers an input of no bytes, or declares an error",
			remedy: "Look at the length before the bytes.", run: checkNothing,
		},
		{
			name: "garbage", about: "ends input that is cut off, scrambled or nested without end by an answer or a declared error, never by a trap",
			remedy: "Check every length against what is left and every depth against a bound, and declare error 1 where they do not fit.", run: checkGarbage,
		},
		{
			name: "large input", about: "takes inputs up to a sixteenth of its memory",
			remedy: "Let the input region grow, keep fewer copies of the input at a time, or ask for more with `limits.memoryMiB` in the manifest.", run: checkLarge,
		},
		{
			name: "state", about: "keeps the state of a long stream within 64 KiB, and better under 4 KiB",
			remedy: "Keep in the state what the next events need, and not what came before them.", run: checkState,
		},
		{
			name: "memory", about: "does not grow from call to call, and does not slow down",
			remedy: "Give back or use again what a call took: nothing of one call is needed by the next. In a language without a collector, reset an arena at the start of each call.", run: checkMemory,
		},
		{
			name: "self-test", about: "answers the calls of its manifest's `selfTest` as that says",
			remedy: "Mend the plugin, or the manifest's `selfTest`: a host runs it before it takes a version up.", run: checkSelfTest,
		},
		{
			name: "cases", about: "makes of its own cases what they expect",
			remedy: "Mend the plugin, or the case.", run: checkCases,
		},
	}
}

// calls are those that take input, each with an input that works.
func (s *subject) calls() ([]callInput, error) {
	streams, _, err := s.streams()
	if err != nil {
		return nil, err
	}
	return []callInput{
		{abi.FuncEncode, question(s.manifest).in},
		{abi.FuncDecode, newOutcome().input(streams[0].steps()[0]).in},
		{abi.FuncError, errorInputs()[0].in},
	}, nil
}

type callInput struct {
	export string
	in     []byte
}

func checkNothing(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	calls, err := s.calls()
	if err != nil {
		return "", err
	}
	for _, c := range calls {
		// Once before anything was written to the region, and once after.
		for range 2 {
			if _, err := g.call(c.export, input{"no bytes", nil}); err != nil {
				return "", err
			}
		}
		if _, err := g.call(c.export, input{"a good input", c.in}); err != nil {
			return "", err
		}
	}
	return "", nil
}

// checkGarbage breaks good inputs in all the ways that bytes can be broken.
func checkGarbage(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	calls, err := s.calls()
	if err != nil {
		return "", err
	}
	n := 0
	for _, c := range calls {
		for _, in := range garbage(c.in, g.p.MaxInput()) {
			n++
			in.name = fmt.Sprintf("%s (%s)", in.name, quote(in.in))
			r, err := g.endure(c.export, in)
			if err != nil {
				return "", err
			}
			// What it says is as good as what it was told; the form must hold.
			if c.export == abi.FuncDecode {
				err = plugin.CheckAnswer(c.export, r.answer)
			} else if r.declared == nil && !bytes.HasPrefix(r.answer, []byte("{")) {
				err = errors.New("want a JSON object")
			}
			if err != nil {
				return "", wrongAnswer(c.export, in.name, err)
			}
		}
	}
	return fmt.Sprintf("%d inputs", n), nil
}

// garbage makes bad inputs of a good one, none over most bytes. They are the
// same each time.
func garbage(good []byte, most int) (all []input) {
	add := func(name string, in []byte) { all = append(all, input{name, in}) }
	for i := range len(good) {
		add("an input cut off", good[:i])
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := 0; i+4 <= len(good); i += 4 {
		in := slices.Clone(good)
		copy(in[i:], "\xff\xff\xff\xff")
		add("a length of 4 GiB", in)
	}
	for range 200 {
		in := slices.Clone(good)
		for range 1 + random.IntN(8) {
			in[random.IntN(len(in))] = byte(random.Uint32())
		}
		add("scrambled bytes", in)
	}
	for range 50 {
		in := make([]byte, random.IntN(2000))
		for i := range in {
			in[i] = byte(random.Uint32())
		}
		add("random bytes", in)
	}
	deep := min(most/32, 40_000)
	for _, open := range []string{"[", `{"a":`, `{"chat":{"messages":[`} {
		add("deep nesting", []byte(strings.Repeat(open, deep)))
		add("deep nesting in an event", abi.AppendDecodeInput(nil, nil, abi.FlagFirst, []abi.Event{{Data: []byte(strings.Repeat(open, deep))}}))
	}
	state := bytes.Repeat([]byte{0xa5}, abi.MaxState)
	for _, n := range []int{1, 3, 64, min(len(state), most/2)} {
		add("a state of another version", abi.AppendDecodeInput(nil, state[:n], 0, []abi.Event{{Data: []byte("{}")}}))
	}
	return all
}

// checkLarge fills inputs up to the limit.
func checkLarge(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	most := g.p.MaxInput()
	room := strings.Repeat("words and \\\"more\\\" ", most/19+1)[:most-2<<10]
	room = strings.TrimRight(room, `\`)
	text := `{"id":"1","choices":[{"index":0,"delta":{"content":"` + room + `"},"finish_reason":null}]}`
	for export, in := range map[string][]byte{
		abi.FuncEncode: mustJSON(&abi.EncodeRequest{Settings: settings(s.manifest), Chat: abi.RawJSON(`{"model":"m-1","messages":[{"role":"user","content":"` + room + `"}]}`)}),
		abi.FuncDecode: abi.AppendDecodeInput(nil, nil, abi.FlagFirst, []abi.Event{{Data: []byte(text)}}),
		abi.FuncError:  mustJSON(&abi.ErrorRequest{Status: 500, Headers: map[string]string{}, Body: room[:min(len(room), 64<<10)]}),
	} {
		in = in[:min(len(in), most)]
		for range 3 {
			if _, err := g.call(export, input{fmt.Sprintf("%d bytes", len(in)), in}); err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("%s; %s of memory after it", size(uint64(most)), size(g.p.Memory())), nil
}

// checkSelfTest loads the plugin as a host does.
func checkSelfTest(s *subject) (string, error) {
	n := len(s.manifest.SelfTest)
	if n == 0 {
		return skip("none in the manifest")
	}
	p, err := s.load()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d calls", n), p.Close()
}

func (s *subject) load() (io.Closer, error) {
	o := plugin.Options{CallTimeout: s.options.CallTimeout}
	if s.manifest.Kind == abi.KindCollector {
		return plugin.LoadCollector(s.ctx, s.runtime, s.module, "check", o)
	}
	if s.manifest.Kind == abi.KindGuard {
		return plugin.LoadGuard(s.ctx, s.runtime, s.module, "check", o)
	}
	return plugin.Load(s.ctx, s.runtime, s.module, "check", o)
}

// checkCases runs the cases, an event a call.
func checkCases(s *subject) (string, error) {
	if len(s.options.Cases) == 0 {
		return skip("none given, and none next to the manifest: --cases DIR runs *.case files")
	}
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	framing, err := s.framing(g)
	if err != nil {
		return "", err
	}
	for _, c := range s.options.Cases {
		if err := runCase(c, g, framing); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d", len(s.options.Cases)), nil
}
