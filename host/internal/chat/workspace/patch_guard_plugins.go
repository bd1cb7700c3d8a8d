package workspace

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// mergeGuardPlugins applies the field guards, which replaces the list.
func (p *Patcher) mergeGuardPlugins(w *Workspace, v json.RawMessage) error {
	switch {
	case v == nil:
		return nil
	case rawjson.IsNull(v):
		w.Guards = nil
		return nil
	}
	if len(v) > maxParameters {
		return apierr.Newf(chaterr.InvalidChatGuards, "`guards` is longer than %d bytes.", maxParameters)
	}
	uses, err := guard.ParseUses(v)
	if err != nil {
		return wrongGuards(err.Error())
	}
	for i := range uses {
		if err := CheckGuard(p.Guards, &uses[i]); err != nil {
			return wrongGuards(fmt.Sprintf("[%d]%v", i, err))
		}
	}
	w.Guards = uses
	if len(uses) == 0 {
		w.Guards = nil
	}
	return nil
}

// CheckGuard says why none of plugins can be used as u says; the error goes on from
// the name of the entry.
func CheckGuard(plugins guard.Plugins, u *guard.Use) error {
	var names []string
	if plugins != nil {
		if m, ok := plugins.GuardManifest(u.Plugin); ok {
			return u.Check(m)
		}
		names = plugins.GuardNames()
	}
	if len(names) == 0 {
		return fmt.Errorf(".plugin is %q, and no guard is loaded at all: add it by `parley plugin install`", u.Plugin)
	}
	return fmt.Errorf(".plugin is %q, and no guard of this name is loaded; there is %s: choose one of them, or add it by `parley plugin install`", u.Plugin, strings.Join(names, ", "))
}

func wrongGuards(what string) error {
	at, rest := "", what
	if strings.HasPrefix(what, "[") { // the entry, and what of it
		at, rest, _ = strings.Cut(what, " ")
	}
	return &apierr.Error{Code: chaterr.InvalidChatGuards, Param: "guards", Message: "`guards" + at + "` " + rest + "."}
}
