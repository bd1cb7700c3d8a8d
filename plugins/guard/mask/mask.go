package main

import (
	"strings"

	"github.com/parley-search/parley/sdk/guard"
	"github.com/parley-search/parley/sdk/match"
)

// mask finds personal data in what goes to the provider. In its place goes a placeholder,
// whose value is kept in the state until the model uses it in an answer.
type mask struct {
	settings guard.Config[*settings]
	table    guard.Table
}

// settings are what the options come to.
type settings struct {
	action  string
	restore bool
	salt    string
	message string
	own     *match.Matcher // patterns of one's own; nil: none
	off     map[string]bool
}

func readSettings(in *guard.In) (*settings, error) {
	s := &settings{
		action: in.Option("action"), restore: in.Option("restore") != "false", salt: in.Option("salt"),
		message: in.Option("message"), off: map[string]bool{},
	}
	for _, kind := range kinds {
		s.off[kind] = true
	}
	for _, kind := range strings.Split(in.Option("kinds"), ",") {
		delete(s.off, strings.ToUpper(strings.TrimSpace(kind)))
	}
	var own []string
	for _, p := range strings.Split(in.Option("patterns"), "\n") {
		if p = strings.TrimSpace(p); p != "" {
			own = append(own, p)
		}
	}
	if len(own) == 0 {
		return s, nil
	}
	var err error
	s.own, err = match.Compile(own...)
	return s, err
}

func (m *mask) Check(in *guard.In, out *guard.Out) error {
	s, err := m.settings.Of(in, readSettings)
	if err != nil {
		return err
	}
	if in.Stage != guard.Question && in.Stage != guard.Passages {
		if s.action == "mask" && s.restore && len(in.State) > 0 {
			m.table.Load(in.State)
			m.table.Restore(in, out)
		}
		return nil
	}
	m.table.Load(in.State)
	if s.action == "mask" {
		m.table.Reserve(in)
	}
	var noted [noteCount]bool
	for i := range in.Items {
		text := in.Items[i].Text
		for _, f := range find(text, s) {
			if s.action == "block" {
				out.Refuse(i, 0, s.message)
				break
			}
			out.Edit(i, f.start, f.end-f.start, m.placeholder(s, f.kind, string(text[f.start:f.end])))
			noted[noteOf(f.kind)] = true
		}
	}
	for label, yes := range noted {
		if yes {
			out.Note(label)
		}
	}
	out.State(m.table.State())
	return nil
}

// placeholder is what goes to the provider in place of a value.
func (m *mask) placeholder(s *settings, kind, value string) string {
	if s.action == "hash" {
		return "<" + kind + ":" + hash(s.salt+"\x00"+value) + ">"
	}
	return m.table.Mask(kind, value)
}
