package auth

import (
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// An Action is something that a key may do, as its name on the wire.
type Action string

// The actions. A route asks for one or more of them.
const (
	Search             Action = "search"
	DocumentsAdd       Action = "documents.add"
	DocumentsGet       Action = "documents.get"
	DocumentsDelete    Action = "documents.delete"
	IndexesCreate      Action = "indexes.create"
	IndexesGet         Action = "indexes.get"
	IndexesUpdate      Action = "indexes.update"
	IndexesDelete      Action = "indexes.delete"
	IndexesSwap        Action = "indexes.swap"
	TasksGet           Action = "tasks.get"
	TasksCancel        Action = "tasks.cancel"
	TasksDelete        Action = "tasks.delete"
	SettingsGet        Action = "settings.get"
	SettingsUpdate     Action = "settings.update"
	StatsGet           Action = "stats.get"
	MetricsGet         Action = "metrics.get"
	DumpsCreate        Action = "dumps.create"
	SnapshotsCreate    Action = "snapshots.create"
	Version            Action = "version"
	KeysCreate         Action = "keys.create"
	KeysGet            Action = "keys.get"
	KeysUpdate         Action = "keys.update"
	KeysDelete         Action = "keys.delete"
	ExperimentalGet    Action = "experimental.get"
	ExperimentalUpdate Action = "experimental.update"
	Export             Action = "export"
	NetworkGet         Action = "network.get"
	NetworkUpdate      Action = "network.update"
	ClusterUpdate      Action = "cluster.update"
	ChatCompletions    Action = "chatCompletions"
	ChatsGet           Action = "chats.get"
	ChatsDelete        Action = "chats.delete"
	ChatsSettingsGet   Action = "chatsSettings.get"
	ChatsSettingsWrite Action = "chatsSettings.update"
	WebhooksGet        Action = "webhooks.get"
	WebhooksCreate     Action = "webhooks.create"
	WebhooksUpdate     Action = "webhooks.update"
	WebhooksDelete     Action = "webhooks.delete"
	PluginsGet         Action = "plugins.get"
	PluginsReload      Action = "plugins.reload"
	PluginsUpdate      Action = "plugins.update"
	TelemetryGet       Action = "telemetry.get"
	TelemetryVerify    Action = "telemetry.verify"
	TelemetryFlush     Action = "telemetry.flush"
	TelemetryDelete    Action = "telemetry.delete"
)

// What a key may hold beside single actions. A group such as "documents.*"
// holds all actions of its prefix.
const (
	All     Action = "*"
	AllGets Action = "*.get" // what only reads, but for keys.get
)

// A scope is what an action concerns.
type scope int

const (
	ofIndexes    scope = iota // indexes, or nothing that some keys must not see
	ofWorkspaces              // workspaces: not for a key that is bound to indexes
	ofHost                    // the whole host: not for a key that is bound to anything
)

// A trait is what the rules about keys must know of an action.
type trait struct {
	action Action
	scope  scope
	reads  bool // held by [AllGets]
	group  bool // has a group "prefix.*"
}

// traits holds every action, once.
var traits = []trait{
	{Search, ofIndexes, true, false},
	{DocumentsAdd, ofIndexes, false, true},
	{DocumentsGet, ofIndexes, true, true},
	{DocumentsDelete, ofIndexes, false, true},
	{IndexesCreate, ofIndexes, false, true},
	{IndexesGet, ofIndexes, true, true},
	{IndexesUpdate, ofIndexes, false, true},
	{IndexesDelete, ofIndexes, false, true},
	{IndexesSwap, ofIndexes, false, true},
	{TasksGet, ofIndexes, true, true},
	{TasksCancel, ofIndexes, false, true},
	{TasksDelete, ofIndexes, false, true},
	{SettingsGet, ofIndexes, true, true},
	{SettingsUpdate, ofIndexes, false, true},
	{StatsGet, ofIndexes, true, true},
	{MetricsGet, ofHost, true, true},
	{DumpsCreate, ofHost, false, true},
	{SnapshotsCreate, ofHost, false, true},
	{Version, ofWorkspaces, true, false},
	{KeysCreate, ofHost, false, false},
	{KeysGet, ofHost, false, false},
	{KeysUpdate, ofHost, false, false},
	{KeysDelete, ofHost, false, false},
	{ExperimentalGet, ofHost, true, false},
	{ExperimentalUpdate, ofHost, false, false},
	{Export, ofHost, false, false},
	{NetworkGet, ofHost, true, false},
	{NetworkUpdate, ofHost, false, false},
	{ClusterUpdate, ofHost, false, false},
	{ChatCompletions, ofIndexes, false, false},
	{ChatsGet, ofWorkspaces, true, true},
	{ChatsDelete, ofWorkspaces, false, true},
	{ChatsSettingsGet, ofWorkspaces, true, true},
	{ChatsSettingsWrite, ofWorkspaces, false, true},
	{WebhooksGet, ofHost, true, true},
	{WebhooksCreate, ofHost, false, true},
	{WebhooksUpdate, ofHost, false, true},
	{WebhooksDelete, ofHost, false, true},
	{PluginsGet, ofHost, true, true},
	{PluginsReload, ofHost, false, true},
	{PluginsUpdate, ofHost, false, true},
	{TelemetryGet, ofHost, true, true},
	{TelemetryVerify, ofHost, false, true},
	{TelemetryFlush, ofHost, false, true},
	{TelemetryDelete, ofHost, false, true},
}

// holds reports whether a, which may be a group, holds the action of t.
func (a Action) holds(t trait) bool {
	switch a {
	case All, t.action:
		return true
	case AllGets:
		return t.reads
	}
	name, isGroup := strings.CutSuffix(string(a), ".*")
	return isGroup && t.group && strings.HasPrefix(string(t.action), name+".")
}

// known reports whether a is an action or a group of some.
func (a Action) known() bool {
	for _, t := range traits {
		if a.holds(t) {
			return true
		}
	}
	return false
}

// actions returns every single action that k allows: one that is bound to some
// indexes or workspaces never acts on the host.
func (k *Key) actions() map[Action]bool {
	all := make(map[Action]bool)
	for _, a := range k.Actions {
		for _, t := range traits {
			if a.holds(t) && k.boundBelow(t) == "" {
				all[t.action] = true
			}
		}
	}
	return all
}

// boundBelow names the field that binds k to less than the action of t concerns;
// empty: none does.
func (k *Key) boundBelow(t trait) string {
	switch {
	case t.scope != ofIndexes && len(k.Indexes) > 0 && !slices.Contains(k.Indexes, "*"):
		return "indexes"
	case t.scope == ofHost && k.spaces() != nil:
		return "workspaces"
	}
	return ""
}

// Changes reports whether a lets its holder change what all nodes of a cluster
// share.
func (a Action) Changes() bool {
	switch a {
	case ChatCompletions, PluginsReload, TelemetryVerify, TelemetryFlush, TelemetryDelete, KeysGet:
		return false
	}
	return !slices.ContainsFunc(traits, func(t trait) bool { return t.action == a && t.reads })
}

// ParseActions checks the actions that a key is to have. The error is
// [apierr.InvalidAPIKeyActions].
func ParseActions(names []string) ([]Action, error) {
	actions := make([]Action, len(names))
	for i, name := range names {
		a := Action(name)
		if slices.Contains(absent, name) {
			return nil, apierr.Newf(apierr.InvalidAPIKeyActions, "`actions[%d]`: %q is an action of other versions of this API; no route here needs it: leave it out.", i, name)
		}
		if !a.known() {
			return nil, apierr.Newf(apierr.InvalidAPIKeyActions, "`actions[%d]`: %.64q is not an action%s.", i, name, suggestion(name))
		}
		actions[i] = a
	}
	return actions, nil
}

// absent are the actions that clients may know and that nothing here needs.
var absent = []string{
	"indexes.compact", "fields.post", "tasks.compact",
	"dynamicSearchRules.*", "dynamicSearchRules.get", "dynamicSearchRules.create", "dynamicSearchRules.update", "dynamicSearchRules.delete",
}

func suggestion(name string) string {
	names := Names()
	if near := apierr.Nearest(name, names); near != "" {
		return ": did you mean `" + near + "`?"
	}
	return ": known are `" + strings.Join(names, "`, `") + "`"
}

// Names lists all that the actions of a key may hold, groups included.
func Names() []string {
	names := []string{string(All), string(AllGets)}
	var group string
	for _, t := range traits {
		if prefix, _, ok := strings.Cut(string(t.action), "."); ok && t.group && prefix != group {
			group = prefix
			names = append(names, prefix+".*")
		}
		names = append(names, string(t.action))
	}
	return names
}
