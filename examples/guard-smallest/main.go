// Command codenames is a small guard: it keeps code names of projects from the provider,
// and puts them back in the answer.
package main

import (
	"strings"

	"github.com/parley-search/parley/sdk/guard"
	"github.com/parley-search/parley/sdk/match"
)

type codenames struct {
	names guard.Config[*match.Matcher]
	table guard.Table
}

// readNames makes a pattern of each name that the option lists.
func readNames(in *guard.In) (*match.Matcher, error) {
	var patterns []string
	for _, name := range strings.Fields(in.Option("names")) {
		patterns = append(patterns, `(?i)\b`+name+`\b`)
	}
	return match.Compile(patterns...)
}

func (c *codenames) Check(in *guard.In, out *guard.Out) error {
	names, err := c.names.Of(in, readNames)
	if err != nil {
		return err
	}
	c.table.Load(in.State)
	if in.Stage == guard.Answer { // which may have placeholders
		c.table.Restore(in, out)
		return nil
	}
	for i, m := range in.Each(out, names, nil) {
		name := string(in.Items[i].Text[m.Start:m.End])
		out.Edit(i, m.Start, m.End-m.Start, c.table.Mask("PROJECT", name))
		out.Note(0)
	}
	out.State(c.table.State())
	return nil
}

func init() { guard.Register(&codenames{}) }

func main() {}
