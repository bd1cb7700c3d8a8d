package conformance

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/parley-search/parley/abi"
)

// A Comparison is how a module differs from another one, such as its last version:
// what it costs, and what it makes of the inputs that both were given.
type Comparison struct {
	Old     string   `json:"old"` // name and version
	OldSize int      `json:"old_size"`
	Size    int      `json:"size"`
	OldFuel []Spent  `json:"old_fuel"`
	Changes []Change `json:"changes"` // what the modules answer differently; empty: nothing
}

// A Change is an input of which two modules make different things.
type Change struct {
	Input string `json:"input"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// Compare holds module, of which report came, against old. Both are given the streams,
// requests and errors of the report's check, with o's cases; collectors, batches of
// events.
func Compare(ctx context.Context, old, module []byte, report *Report, o Options) (*Comparison, error) {
	before, err := Check(ctx, old, o)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Old: before.Name + " " + before.Version, OldSize: len(old), Size: len(module), OldFuel: before.Fuel, Changes: []Change{}}
	if before.Kind != report.Kind {
		return nil, fmt.Errorf("%s is a %s, and the plugin to compare with it a %s", c.Old, before.Kind, report.Kind)
	}
	oldAnswers, err := answers(ctx, old, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Old, err)
	}
	newAnswers, err := answers(ctx, module, o)
	if err != nil {
		return nil, err
	}
	for _, a := range newAnswers {
		i := slices.IndexFunc(oldAnswers, func(b answered) bool { return a.input == b.input })
		if i >= 0 && oldAnswers[i].answer != a.answer {
			c.Changes = append(c.Changes, Change{a.input, oldAnswers[i].answer, a.answer})
		}
	}
	return c, nil
}

// An answered is an input, and what a module made of it.
type answered struct{ input, answer string }

// answers gives a module the inputs of the kit, and returns what it makes of them.
func answers(ctx context.Context, module []byte, o Options) (all []answered, err error) {
	s, closeSubject, err := openSubject(ctx, module, o)
	if err != nil {
		return nil, err
	}
	defer closeSubject()
	g, err := s.fresh()
	if err != nil {
		return nil, err
	}
	if s.manifest.Kind == abi.KindGuard {
		for _, in := range s.guardInputs(20) {
			r, err := g.endure(abi.FuncGuard, in)
			if err != nil {
				return nil, err
			}
			all = append(all, answered{in.name, r.String()})
		}
		return all, nil
	}
	if s.manifest.Kind == abi.KindCollector {
		if err := g.observe(s.batch(batchSize)); err != nil {
			return nil, err
		}
		r, err := g.flush(0)
		return []answered{{"the metrics of one batch of events", r.String()}}, err
	}
	for _, c := range []struct {
		export string
		inputs []input
	}{{abi.FuncEncode, encodeInputs(s.manifest)}, {abi.FuncError, errorInputs()}} {
		for _, in := range c.inputs {
			r, err := g.call(c.export, in)
			if err != nil {
				return nil, err
			}
			all = append(all, answered{c.export + " of " + in.name, r.String()})
		}
	}
	streams, _, err := s.streams()
	if err != nil {
		return nil, err
	}
	for i, st := range streams {
		outcome, _, err := st.run(g)
		if err != nil {
			return nil, err
		}
		all = append(all, answered{fmt.Sprintf("stream %d, %s", i+1, st.name), outcome.String()})
	}
	return all, nil
}

// write prints the comparison for people. fuel is that of the newer module.
func (c *Comparison) write(t io.Writer, fuel []Spent) {
	fmt.Fprintf(t, "\nagainst %s\n\n", c.Old)
	fmt.Fprintf(t, "size\t%s\twas %s\n", size(uint64(c.Size)), size(uint64(c.OldSize)))
	for _, f := range fuel {
		i := slices.IndexFunc(c.OldFuel, func(old Spent) bool { return old.Export == f.Export })
		if i >= 0 {
			fmt.Fprintf(t, "fuel of %s\t%s\twas %s\n", f.Export, count(f.Median), count(c.OldFuel[i].Median))
		}
	}
	fmt.Fprintf(t, "answers that changed\t%d\t\n", len(c.Changes))
	for _, change := range c.Changes {
		fmt.Fprintf(t, "\n%s\n  was %s\n  is  %s\n", change.Input, change.Old, change.New)
	}
}
