package httpapi

import (
	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/chat"
)

// A Plugin is what GET /plugins shows of one version of a plugin.
type Plugin struct {
	Name    string       `json:"name"`
	Kind    string       `json:"kind"`
	Version string       `json:"version"`
	Source  string       `json:"source,omitempty"` // of a provider
	Owner   string       `json:"owner,omitempty"`  // the plugin that answers Source where a workspace names none
	SHA256  string       `json:"sha256"`
	ABI     int          `json:"abi"`
	From    string       `json:"from"` // where the module came from
	Grants  PluginGrants `json:"grants"`
	// Options are the plugin's own settings with their rules, for a form.
	Options map[string]abi.Option `json:"options,omitempty"`
	// State is "ready"; "open" while faults keep calls away; "retiring" while it
	// only finishes streams; or, where it does not run, with Error, "refused" or
	// "unlisted", which says that a file is not in the lock. SHA256 of a refused
	// one is that of the lock.
	State string `json:"state"`
	Error string `json:"error,omitempty"`
	// Use says that this version is the one that answers where a workspace names
	// none, as long as Owner is this plugin, Constraint what it was chosen by, and Locked that the lock pins it.
	Use        bool   `json:"use"`
	Constraint string `json:"constraint,omitempty"`
	Locked     bool   `json:"locked"`
	// Workspaces are those that name this plugin, or a version of it: told of the
	// version in use, and only to who may read their settings.
	Workspaces []chat.Narrowed  `json:"workspaces,omitempty"`
	Streams    int64            `json:"streams"` // under way
	Calls      int64            `json:"calls"`
	Faults     map[string]int64 `json:"faults"` // by kind
	Instances  int64            `json:"instances"`
	Memory     int64            `json:"memory"`  // bytes
	Fuel       int64            `json:"fuel"`    // spent by all calls, in the meter's units
	FuelP50    int64            `json:"fuelP50"` // of one call
	FuelP99    int64            `json:"fuelP99"`
	Limiter    string           `json:"limiter,omitempty"`
	Unmetered  string           `json:"unmetered,omitempty"` // why it is not the meter that bounds calls
	// Of a provider: how often an instance was reset since it went over to another
	// answer, how many pages of memory that put back, how often it was replaced
	// by a new one instead, and, where that is always so, why.
	Resets     int64  `json:"resets"`
	ResetPages int64  `json:"resetPages"`
	Renewals   int64  `json:"renewals"`
	NoReset    string `json:"noReset,omitempty"`
}

// PluginGrants are what a plugin may reach.
type PluginGrants struct {
	HTTP    []string `json:"http"`
	Secrets []string `json:"secrets"`
	// Auth says how the host signs requests in, and with which secrets.
	Auth []string `json:"auth,omitempty"`
}

// plugins answers GET /plugins.
func (s *Server) plugins(r *call) error {
	results := []Plugin{}
	if s.Plugins != nil {
		results = append(results, s.Plugins()...)
	}
	if r.caller.Allows(auth.ChatsSettingsGet) {
		narrowed, err := s.Chat.Narrowed(s.ctx)
		if err != nil {
			return err
		}
		for i := range results {
			if p := &results[i]; p.Use && p.Source != "" {
				p.Workspaces = narrowed[p.Name]
			}
		}
	}
	return ok(r, list[Plugin]{results, 0, len(results), len(results)})
}

// Reloaded is what POST /plugins/reload changed.
type Reloaded struct {
	Loaded    []PluginVersion `json:"loaded"`  // run from now on
	Retired   []PluginVersion `json:"retired"` // only finish the streams on them
	Refused   []RefusedPlugin `json:"refused"`
	Unchanged int             `json:"unchanged"` // versions
}

// A PluginVersion names one version of a plugin, exactly.
type PluginVersion struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
}

// A RefusedPlugin is a module that does not run, and why.
type RefusedPlugin struct {
	Name    string `json:"name,omitempty"` // where more than the file is known
	Version string `json:"version,omitempty"`
	From    string `json:"from"`
	Error   string `json:"error"`
}

// reloadPlugins answers POST /plugins/reload, once all that is new has been
// compiled and tested.
func (s *Server) reloadPlugins(r *call) error {
	if s.Reload == nil {
		return ok(r, Reloaded{[]PluginVersion{}, []PluginVersion{}, []RefusedPlugin{}, 0})
	}
	done, err := s.Reload(s.ctx)
	if err != nil {
		return &apierr.Error{Code: apierr.PluginsNotReloaded, Message: "No plugin was changed: " + err.Error() + ".", Err: err}
	}
	return ok(r, done)
}
