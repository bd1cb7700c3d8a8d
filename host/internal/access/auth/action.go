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

// A trait is what the rules about keys must know of an action.
type trait struct {
	action Action
	global bool // concerns the whole host: not for a key that is bound to indexes
	reads  bool // held by [AllGets]
	group  bool // has a group "prefix.*"
}

// traits holds every action, once.
var traits = []trait{
	{Search, false, true, false},
	{DocumentsAdd, false, false, true},
	{DocumentsGet, false, true, true},
	{DocumentsDelete, false, false, true},
	{IndexesCreate, false, false, true},
	{IndexesGet, false, true, true},
	{IndexesUpdate, false, false, true},
	{IndexesDelete, false, false, true},
	{IndexesSwap, false, false, true},
	{TasksGet, false, true, true},
	{TasksCancel, false, false, true},
	{TasksDelete, false, false, true},
	{SettingsGet, false, true, true},
	{SettingsUpdate, false, false, true},
	{StatsGet, false, true, true},
	{MetricsGet, true, true, true},
	{DumpsCreate, true, false, true},
	{SnapshotsCreate, true, false, true},
	{Version, true, true, false},
	{KeysCreate, true, false, false},
	{KeysGet, true, false, false},
	{KeysUpdate, true, false, false},
	{KeysDelete, true, false, false},
	{ExperimentalGet, true, true, false},
	{ExperimentalUpdate, true, false, false},
	{Export, true, false, false},
	{NetworkGet, true, true, false},
	{NetworkUpdate, true, false, false},
	{ClusterUpdate, true, false, false},
	{ChatCompletions, false, false, false},
	{ChatsGet, true, true, true},
	{ChatsDelete, true, false, true},
	{ChatsSettingsGet, true, true, true},
	{ChatsSettingsWrite, true, false, true},
	{WebhooksGet, true, true, true},
	{WebhooksCreate, true, false, true},
	{WebhooksUpdate, true, false, true},
	{WebhooksDelete, true, false, true},
	{PluginsGet, true, true, true},
	{PluginsReload, true, false, true},
	{PluginsUpdate, true, false, true},
	{TelemetryGet, true, true, true},
	{TelemetryVerify, true, false, true},
	{TelemetryFlush, true, false, true},
	{TelemetryDelete, true, false, true},
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

// expand returns every single action that held holds, for a key that may use
// the indexes of patterns: one that is bound to some never acts on the host.
func expand(held []Action, patterns []string) map[Action]bool {
	all, bound := make(map[Action]bool), scoped(patterns)
	for _, a := range held {
		for _, t := range traits {
			if a.holds(t) && !(bound && t.global) {
				all[t.action] = true
			}
		}
	}
	return all
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
