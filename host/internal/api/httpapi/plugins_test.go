package httpapi_test

import "testing"

// TestPluginClients shows whose input made a plugin fail, as far as who asks may know of
// workspaces and keys.
func TestPluginClients(t *testing.T) {
	r := newRig(t, wish{})
	key := func(actions ...string) []string {
		return []string{"Authorization", "Bearer " + r.key(actions, []string{"*"})}
	}
	r.play(t, []scenario{
		{name: "all", method: "GET", path: "/plugins", status: 200, contains: []string{`"workspace":"faulty","key":"the key"},`, `"clients":[{"workspace":"faulty","key":"the key","faults":2,`}},
		{name: "no keys", method: "GET", path: "/plugins", header: key("plugins.get", "chatsSettings.get"), status: 200, contains: []string{`"clients":[{"workspace":"faulty","faults":2,`}, excludes: []string{"the key"}},
		{name: "no workspaces", method: "GET", path: "/plugins", header: key("plugins.get"), status: 200, contains: []string{"trap in encode"}, excludes: []string{"faulty", "the key"}},
	})
}

// TestPluginWorkspaces shows which workspaces name a version of their own, and
// only to who may read their settings.
func TestPluginWorkspaces(t *testing.T) {
	r := newRig(t, wish{})
	key := func(actions ...string) []string {
		return []string{"Authorization", "Bearer " + r.key(actions, []string{"*"})}
	}
	const narrowed = `"locked":false,"workspaces":[{"uid":"demo","pluginVersion":"1.0.0","version":"1.0.0"}],`
	r.play(t, []scenario{
		{name: "none", method: "GET", path: "/plugins", status: 200, excludes: []string{"workspaces"}},
		{name: "narrow", method: "PATCH", path: "/chats/demo/settings", body: `{"pluginVersion":"1.0.0"}`, status: 200},
		{name: "shown", method: "GET", path: "/plugins", status: 200, contains: []string{narrowed}},
		{name: "shown to readers", method: "GET", path: "/plugins", header: key("plugins.get", "chatsSettings.get"), status: 200, contains: []string{narrowed}},
		{name: "hidden", method: "GET", path: "/plugins", header: key("plugins.get"), status: 200, contains: []string{`"total":1`}, excludes: []string{"workspaces", "demo"}},
	})
}
