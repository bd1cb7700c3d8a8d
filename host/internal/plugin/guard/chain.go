package guard

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
)

// A Chain is the guards of one answer, with what they keep of it. Not safe for
// concurrent use.
type Chain struct {
	links []*link
	told  func(Event)
	in    []byte // of a call
	out   []byte
}

// A link is a guard of a chain.
type link struct {
	plugin   Plugin
	manifest *abi.Manifest
	stages   []string
	options  []byte
	open     bool // a fault lets texts pass
	off      bool // there was one
	state    []byte
	triggers *triggers // nil: it sees all
}

// New returns a chain without guards. told, where not nil, is told of each call.
func New(told func(Event)) *Chain {
	if told == nil {
		told = func(Event) {}
	}
	return &Chain{told: told}
}

// Add appends a guard.
func (c *Chain) Add(p Plugin, u *Use) {
	m := p.Manifest()
	l := &link{plugin: p, manifest: m, stages: u.Stages, open: u.OnFault == FaultOpen, options: optionsOf(m, u.Options), triggers: triggersOf(m, u.Options)}
	if l.stages == nil {
		l.stages = m.Stages
	}
	c.links = append(c.links, l)
}

// optionsOf is the JSON of a guard's options, with defaults filled in.
func optionsOf(m *abi.Manifest, set map[string]json.RawMessage) []byte {
	all := map[string]json.RawMessage{}
	for name, o := range m.Options {
		if v := json.RawMessage(cmp.Or(string(set[name]), string(o.Default))); len(v) > 0 {
			all[name] = v
		}
	}
	b := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), name...), '"', ':')
		b = append(b, all[name]...)
	}
	return append(b, '}')
}

// Has reports whether a guard stands at a stage.
func (c *Chain) Has(stage string) bool {
	return slices.ContainsFunc(c.links, func(l *link) bool { return l.at(stage) })
}

func (l *link) at(stage string) bool { return !l.off && slices.Contains(l.stages, stage) }

// outward reports whether texts of a stage go to the client, and pass the guards
// in the opposite order.
func outward(stage string) bool {
	return stage == abi.StageArguments || stage == abi.StageAnswer || stage == abi.StageReasoning
}

// at lists the guards of a stage, in the order in which texts pass them.
func (c *Chain) at(stage string) []*link {
	var all []*link
	for _, l := range c.links {
		if l.at(stage) {
			all = append(all, l)
		}
	}
	if outward(stage) {
		slices.Reverse(all)
	}
	return all
}

// State is what the guards keep, by name.
func (c *Chain) State() map[string][]byte {
	var states map[string][]byte
	for i, l := range c.links {
		if len(l.state) > 0 {
			if states == nil {
				states = map[string][]byte{}
			}
			states[c.key(i)] = slices.Clone(l.state)
		}
	}
	return states
}

// SetState gives the guards back what they kept. What is not theirs is passed over.
func (c *Chain) SetState(states map[string][]byte) {
	for i, l := range c.links {
		if s := states[c.key(i)]; len(s) <= abi.MaxState {
			l.state = slices.Clone(s)
		}
	}
}

// key tells apart the guards of a chain, of one name and version too.
func (c *Chain) key(i int) string {
	n := 0
	for _, l := range c.links[:i] {
		if l.manifest.Name == c.links[i].manifest.Name {
			n++
		}
	}
	return fmt.Sprintf("%s %s %d", c.links[i].manifest.Name, c.links[i].manifest.Version, n)
}

// Whole gives a list of texts to the guards of a stage, and puts what they make of
// them in their place. A blocked hit of passages is marked in dropped, by the
// items; elsewhere a block is the error, which is a [*Blocked], or ctx's.
func (c *Chain) Whole(ctx context.Context, stage string, items []abi.Item) (dropped []bool, err error) {
	dropped = make([]bool, len(items))
	for i := range items {
		if !utf8.Valid(items[i].Text) {
			items[i].Text = []byte(mended(items[i].Text))
		}
	}
	for _, l := range c.at(stage) {
		if err := c.whole(ctx, l, stage, items, dropped); err != nil {
			return dropped, err
		}
	}
	return dropped, nil
}

// whole gives items to one guard, in as many calls as its memory asks for.
func (c *Chain) whole(ctx context.Context, l *link, stage string, items []abi.Item, dropped []bool) error {
	group := 1
	if stage == abi.StagePassages {
		group = 3
	}
	for from := 0; from < len(items); {
		to, size := from, 0
		for to < len(items) {
			n := 0
			for _, item := range items[to:min(to+group, len(items))] {
				n += 8 + len(item.Text)
			}
			if to > from && size+n > l.room() {
				break
			}
			size, to = size+n, min(to+group, len(items))
		}
		flags := byte(0)
		if from == 0 {
			flags |= abi.GuardFirst
		}
		if to == len(items) {
			flags |= abi.GuardLast
		}
		v, err := c.call(ctx, l, stage, flags, items[from:to])
		if err != nil {
			return err
		}
		if v != nil {
			for i := range v.edited {
				if e := v.edited[i]; e != nil {
					items[from+i].Text = e
				}
			}
			for _, item := range v.drop {
				at := from + item - item%group
				for i := at; i < at+group; i++ {
					dropped[i] = true
				}
			}
			if v.blocked != nil {
				return v.blocked
			}
		}
		from = to
	}
	return nil
}

// room is how many bytes of items a call takes beside state and options.
func (l *link) room() int {
	most := cmp.Or(l.manifest.Limits.MemoryMiB, 16) << 20 / 16
	return max(most-len(l.state)-len(l.options)-64, most/4)
}

// call makes one call of a guard. nil: it failed, and texts pass. An error is a
// [*Blocked] where it failed and they do not, or ctx's.
func (c *Chain) call(ctx context.Context, l *link, stage string, flags byte, items []abi.Item) (*verdict, error) {
	if l.off {
		return nil, nil
	}
	began := time.Now()
	c.in = abi.AppendGuardInput(c.in[:0], stage, flags, l.options, l.state, items)
	out, err := l.plugin.Guard(ctx, c.in, c.out[:0])
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var v *verdict
	if err == nil {
		c.out = out
		v, err = l.read(stage, flags, items, out)
	}
	e := Event{Guard: l.manifest.Name, Stage: stage, Action: ActionPass, Took: time.Since(began)}
	if err != nil {
		e.Action, e.Err = ActionFault, err
		c.told(e)
		if l.open {
			l.off = true
			return nil, nil
		}
		b := &Blocked{Guard: l.manifest.Name, Stage: stage, Fault: err}
		if room := l.room(); len(c.in) > room+len(l.state)+len(l.options)+64 {
			b.Room = room
		}
		return nil, b
	}
	e.Edits = v.edits
	switch {
	case v.blocked != nil || v.drop != nil:
		e.Action = ActionBlock
	case v.edits > 0:
		e.Action = ActionEdit
	}
	c.told(e)
	for _, label := range v.notes {
		c.told(Event{Guard: l.manifest.Name, Stage: stage, Action: ActionNote, Label: l.manifest.Notes[label]})
	}
	return v, nil
}

// mended is text with what is not UTF-8 replaced, byte by byte.
func mended(text []byte) string { return string([]rune(string(text))) }
