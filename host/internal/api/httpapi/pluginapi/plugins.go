// Package pluginapi answers the routes of plugins: what is loaded, and how clients
// change that where the operator lets them.
package pluginapi

import (
	"context"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/chat"
)

// Deps are what a server answers from.
type Deps struct {
	Chat *chat.Service // knows which workspaces name a plugin
	// Plugins lists what is loaded and what was refused; nil: nothing is.
	Plugins func() []Plugin
	// Problems are what is wrong with the deployment of plugins as a whole; nil: nothing.
	Problems func() []string
	// Reload makes the host run what the deployment says now; nil: there is
	// nothing to reload. Its error is a sentence for the operator.
	Reload func(context.Context) (Reloaded, error)
	// Installer does what clients say of plugins; nil: they may not.
	Installer Installer
}

// A Server answers the routes. Safe for concurrent use.
type Server struct {
	Deps
	uploads *request.Slots // of files
}

// New returns a Server.
func New(d Deps) *Server { return &Server{d, uploads()} }

// A Plugin is what GET /plugins shows of one version of a plugin.
type Plugin struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Version string `json:"version"`
	// Description is what the plugin says that it is for; "" where it does not run.
	Description string `json:"description"`
	Source      string `json:"source,omitempty"` // of a provider
	Owner       string `json:"owner,omitempty"`  // the plugin that answers Source where a workspace names none
	SHA256      string `json:"sha256"`
	ABI         int    `json:"abi"`
	From        string `json:"from"` // where the module came from
	Grants      Grants `json:"grants"`
	// Settings are what the plugin says of a workspace's settings, and Options its
	// own with their rules, for a form.
	Settings map[string]abi.Setting `json:"settings,omitempty"`
	Options  map[string]abi.Option  `json:"options,omitempty"`
	// State is "ready"; "open" while faults keep all calls away; "retiring" while it
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
	LastFault  *PastFault       `json:"lastFault,omitempty"`
	Clients    []FaultyClient   `json:"clients,omitempty"` // whose input made it fail within the last minute, told as Workspaces are
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

// A PastFault is the last of a plugin's faults.
type PastFault struct {
	At      time.Time `json:"at"`
	Message string    `json:"message"` // kind, function and cause
	// Workspace and Key say whose input it was: told as [Plugin].Workspaces are, and the
	// uid of the key only to who may read keys.
	Workspace string `json:"workspace,omitempty"`
	Key       string `json:"key,omitempty"`
}

// A FaultyClient is one whose input made a plugin fail.
type FaultyClient struct {
	Workspace   string     `json:"workspace"`
	Key         string     `json:"key,omitempty"` // uid, as in [PastFault]
	Faults      int        `json:"faults"`        // within the last minute, of at most 20
	LastFault   time.Time  `json:"lastFault"`
	PausedUntil *time.Time `json:"pausedUntil,omitempty"` // no call of it goes ahead before
}

// hide takes out of p what it tells of clients that caller may not know.
func (p *Plugin) hide(caller *auth.Caller) {
	spaces, keys := caller.Allows(auth.ChatsSettingsGet), caller.Allows(auth.KeysGet)
	if p.LastFault != nil {
		f := *p.LastFault // which others see, too
		if !spaces {
			f.Workspace = ""
		}
		if !spaces || !keys {
			f.Key = ""
		}
		p.LastFault = &f
	}
	if !spaces {
		p.Clients = nil
	}
	for i := range p.Clients {
		if !keys {
			p.Clients[i].Key = ""
		}
	}
}

// Grants are what a plugin may reach.
type Grants struct {
	HTTP    []string `json:"http"`
	Secrets []string `json:"secrets"`
	// Auth says how the host signs requests in, and with which secrets.
	Auth []string `json:"auth,omitempty"`
}

// ListPlugins answers GET /plugins.
func (s *Server) ListPlugins(r *request.Call) error {
	results, problems := []Plugin{}, []string{}
	if s.Plugins != nil {
		results = append(results, s.Plugins()...)
	}
	if s.Problems != nil {
		problems = s.Problems()
	}
	for i := range results {
		results[i].hide(r.Caller)
	}
	if r.Caller.Allows(auth.ChatsSettingsGet) {
		narrowed, err := s.Chat.Narrowed(r.Base)
		if err != nil {
			return err
		}
		for i := range results {
			if p := &results[i]; p.Use && p.Source != "" {
				p.Workspaces = narrowed[p.Name]
			}
		}
	}
	return r.OK(struct {
		request.List[Plugin]
		Changeable bool     `json:"changeable"` // by clients
		Problems   []string `json:"problems"`
	}{request.NewList(results, 0, len(results), len(results)), s.Installer != nil, problems})
}

// Reloaded is what POST /plugins/reload changed.
type Reloaded struct {
	Loaded    []Version `json:"loaded"`  // run from now on
	Retired   []Version `json:"retired"` // only finish the streams on them
	Refused   []Refused `json:"refused"`
	Unchanged int       `json:"unchanged"` // versions
}

// A Version names one version of a plugin, exactly.
type Version struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
}

// A Refused is a module that does not run, and why.
type Refused struct {
	Name    string `json:"name,omitempty"` // where more than the file is known
	Version string `json:"version,omitempty"`
	From    string `json:"from"`
	Error   string `json:"error"`
}

// ReloadPlugins answers POST /plugins/reload, once all that is new has been
// compiled and tested.
func (s *Server) ReloadPlugins(r *request.Call) error {
	if s.Reload == nil {
		return r.OK(Reloaded{[]Version{}, []Version{}, []Refused{}, 0})
	}
	done, err := s.Reload(r.Base)
	if err != nil {
		return &apierr.Error{Code: apierr.PluginsNotReloaded, Message: "No plugin was changed: " + err.Error() + ".", Err: err}
	}
	return r.OK(done)
}
