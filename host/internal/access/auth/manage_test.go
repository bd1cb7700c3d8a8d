package auth_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

func TestCreateErrors(t *testing.T) {
	s := open(t, master, newClock())
	ok := auth.Draft{UID: "6062abda-a5aa-4414-ac91-ecd7944c0f8d", Actions: []string{"search"}, Indexes: []string{"*"}}
	create(t, s, ok)
	with := func(f func(*auth.Draft)) auth.Draft {
		d := auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}}
		f(&d)
		return d
	}
	tests := []struct {
		name    string
		draft   auth.Draft
		code    apierr.Code
		message string
	}{
		{"uid twice", ok, apierr.APIKeyAlreadyExists, "uid"},
		{"uid in capitals twice", with(func(d *auth.Draft) { d.UID = strings.ToUpper(ok.UID) }), apierr.APIKeyAlreadyExists, "uid"},
		{"not a UUID", with(func(d *auth.Draft) { d.UID = "me" }), apierr.InvalidAPIKeyUID, "`uid`: \"me\" is not a UUID"},
		{"UUID in braces", with(func(d *auth.Draft) { d.UID = "{" + ok.UID + "}" }), apierr.InvalidAPIKeyUID, "not a UUID"},
		{"unknown action", with(func(d *auth.Draft) { d.Actions = []string{"search", "document.add"} }), apierr.InvalidAPIKeyActions, "`actions[1]`: \"document.add\" is not an action: did you mean `documents.add`?"},
		{"action of other versions", with(func(d *auth.Draft) { d.Actions = []string{"search", "fields.post"} }), apierr.InvalidAPIKeyActions, "`actions[1]`: \"fields.post\" is an action of other versions"},
		{"unknown group", with(func(d *auth.Draft) { d.Actions = []string{"search.*"} }), apierr.InvalidAPIKeyActions, "`actions[0]`"},
		{"beginning of a group", with(func(d *auth.Draft) { d.Actions = []string{"doc*"} }), apierr.InvalidAPIKeyActions, "`actions[0]`"},
		{"no action at all", with(func(d *auth.Draft) { d.Actions = []string{""} }), apierr.InvalidAPIKeyActions, "known are `*`, `*.get`, `search`, `documents.*`"},
		{"index with a space", with(func(d *auth.Draft) { d.Indexes = []string{"a", "b c"} }), apierr.InvalidAPIKeyIndexes, "`indexes[1]`: \"b c\" is not an index pattern"},
		{"index with a star inside", with(func(d *auth.Draft) { d.Indexes = []string{"a*b"} }), apierr.InvalidAPIKeyIndexes, "`indexes[0]`"},
		{"empty index", with(func(d *auth.Draft) { d.Indexes = []string{""} }), apierr.InvalidAPIKeyIndexes, "`indexes[0]`"},
		{"long index", with(func(d *auth.Draft) { d.Indexes = []string{strings.Repeat("x", 401)} }), apierr.InvalidAPIKeyIndexes, "at most 400"},
		{"past", with(func(d *auth.Draft) { d.ExpiresAt = new("2026-11-21T05:00:00Z") }), apierr.InvalidAPIKeyExpiresAt, "is past"},
		{"not a time", with(func(d *auth.Draft) { d.ExpiresAt = new("tomorrow") }), apierr.InvalidAPIKeyExpiresAt, "\"tomorrow\" is not a time"},
		{"empty time", with(func(d *auth.Draft) { d.ExpiresAt = new("") }), apierr.InvalidAPIKeyExpiresAt, "not a time"},
		{"everything, no index", with(func(d *auth.Draft) { d.Actions, d.Indexes = []string{"search", "*"}, []string{} }), apierr.InvalidAPIKeyIndexes, "`indexes` is empty, and `actions` holds `*`: write [\"*\"] for all indexes"},
		{"all reads, no index", with(func(d *auth.Draft) { d.Actions, d.Indexes = []string{"*.get"}, nil }), apierr.InvalidAPIKeyIndexes, "`indexes` is empty, and `actions` holds `*.get`"},
		{"global action, one index", with(func(d *auth.Draft) { d.Actions, d.Indexes = []string{"search", "keys.get"}, []string{"a"} }), apierr.IndexScopedAPIKeyWithGlobalAction, "`keys.get`"},
		{"global group, one index", with(func(d *auth.Draft) { d.Actions, d.Indexes = []string{"chats.*"}, []string{"a*"} }), apierr.IndexScopedAPIKeyWithGlobalAction, "`chats.*`"},
		{"global action, one workspace", with(func(d *auth.Draft) { d.Actions, d.Workspaces = []string{"search", "metrics.get"}, []string{"a"} }), apierr.InvalidAPIKeyActions, "`metrics.get`"},
		{"global group, no workspace", with(func(d *auth.Draft) { d.Actions, d.Workspaces = []string{"plugins.*"}, []string{} }), apierr.InvalidAPIKeyActions, "`plugins.*`"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.Create(t.Context(), auth.Everyone(), tt.draft)
			if !apierr.Is(err, tt.code) || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("Create: error %v, want %s with %q", err, tt.code, tt.message)
			}
		})
	}
	if _, total := s.Keys(0, 0); total != 5 {
		t.Errorf("%d keys after refusals, want 5", total)
	}
}

// TestNoKeyBeyondItsMaker: who may make keys makes none that may do more than it, nor is
// shown the value of one.
func TestNoKeyBeyondItsMaker(t *testing.T) {
	s := open(t, master, newClock())
	all, soon, later := []string{"*"}, "2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z"
	makes := []string{"keys.create", "keys.get", "keys.update", "search"}
	search := auth.Draft{Actions: []string{"search"}, Indexes: all}
	tests := []struct {
		name        string
		maker, made auth.Draft
		refused     string // empty: it is made
	}{
		{"the same", auth.Draft{Actions: makes, Indexes: all}, auth.Draft{Actions: makes, Indexes: all}, ""},
		{"less", auth.Draft{Actions: makes, Indexes: all}, auth.Draft{Actions: []string{"search"}, Indexes: []string{"a"}, Workspaces: []string{"w"}, ExpiresAt: &soon}, ""},
		{"another action", auth.Draft{Actions: makes, Indexes: all}, auth.Draft{Actions: []string{"search", "documents.add"}, Indexes: all}, "`documents.add`"},
		{"all actions", auth.Draft{Actions: makes, Indexes: all}, auth.Draft{Actions: all, Indexes: all}, "does not allow"},
		{"all actions of an index", auth.Draft{Actions: makes, Indexes: all}, auth.Draft{Actions: all, Indexes: []string{"a"}}, "does not allow"},
		{"indexes, of a key of the host", auth.Draft{Actions: makes}, search, "`*`"},
		{"later", auth.Draft{Actions: makes, Indexes: all, ExpiresAt: &soon}, auth.Draft{Actions: []string{"search"}, Indexes: all, ExpiresAt: &later}, soon},
		{"never", auth.Draft{Actions: makes, Indexes: all, ExpiresAt: &soon}, search, soon},
		{"the same end", auth.Draft{Actions: makes, Indexes: all, ExpiresAt: &soon}, auth.Draft{Actions: []string{"search"}, Indexes: all, ExpiresAt: &soon}, ""},
		{"without limits", auth.Draft{Actions: makes, Indexes: all, Limits: []byte(`{"parallel":1}`)}, search, "limits"},
		{"all by all", auth.Draft{Actions: all, Indexes: all}, auth.Draft{Actions: all, Indexes: all}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, value := create(t, s, tt.maker)
			maker, err := s.Authenticate("Bearer " + value)
			if err != nil {
				t.Fatal(err)
			}
			k, err := s.Create(t.Context(), maker, tt.made)
			if tt.refused == "" && err != nil || tt.refused != "" && (!apierr.Is(err, apierr.InvalidAPIKey) || !strings.Contains(err.Error(), tt.refused)) {
				t.Fatalf("Create: error %v, want one with %q", err, tt.refused)
			}
			if k, _ = create(t, s, tt.made); auth.SeesValue(maker, &k) != (tt.refused == "") {
				t.Errorf("the value of such a key is shown: %v, want %v", tt.refused != "", tt.refused == "")
			}
			_, err = s.Update(t.Context(), maker, k.UID, auth.Change{Limits: []byte(`null`)})
			if (err == nil) != (tt.refused == "") {
				t.Errorf("Update of limits of such a key: error %v, want one: %v", err, tt.refused != "")
			}
			if _, err := s.Update(t.Context(), maker, k.UID, auth.Change{Name: apierr.Optional[string]{Set: true}}); err != nil {
				t.Errorf("Update of the name of such a key: %v", err)
			}
		})
	}
}

// TestBoundToWorkspaces: a key that is bound to workspaces never acts on the host, even
// one that was stored with all actions.
func TestBoundToWorkspaces(t *testing.T) {
	s := open(t, master, newClock())
	for _, tt := range []struct {
		workspaces []string
		host       bool
	}{{nil, true}, {[]string{"*"}, true}, {[]string{"a", "*"}, true}, {[]string{"a*"}, false}, {[]string{}, false}} {
		_, value := create(t, s, auth.Draft{Actions: []string{"*"}, Indexes: []string{"*"}, Workspaces: tt.workspaces})
		c, err := s.Authenticate("Bearer " + value)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []auth.Action{auth.MetricsGet, auth.KeysCreate, auth.KeysGet, auth.KeysUpdate, auth.KeysDelete, auth.DumpsCreate, auth.SnapshotsCreate, auth.Export, auth.NetworkUpdate, auth.WebhooksGet, auth.PluginsGet, auth.PluginsUpdate, auth.TelemetryGet, auth.ExperimentalUpdate, auth.ClusterUpdate} {
			if c.Allows(a) != tt.host {
				t.Errorf("a key with * and the workspaces %q may %s: %v, want %v", tt.workspaces, a, !tt.host, tt.host)
			}
		}
		for _, a := range []auth.Action{auth.Search, auth.ChatCompletions, auth.ChatsGet, auth.ChatsSettingsWrite, auth.DocumentsAdd, auth.TasksGet, auth.StatsGet, auth.Version} {
			if !c.Allows(a) {
				t.Errorf("a key with * and the workspaces %q may not %s", tt.workspaces, a)
			}
		}
		if c.Bound() == tt.host {
			t.Errorf("a key of the workspaces %q is bound: %v", tt.workspaces, !tt.host)
		}
	}
}

func TestExpiryForms(t *testing.T) {
	s := open(t, master, newClock())
	for given, want := range map[string]string{
		"2030-01-31T12:00:00Z":      "2030-01-31T12:00:00Z",
		"2030-01-31T12:00:00+02:00": "2030-01-31T10:00:00Z",
		"2030-01-31T12:00:00.5Z":    "2030-01-31T12:00:00Z",
		"2030-01-31T12:00:00":       "2030-01-31T12:00:00Z",
		"2030-01-31 12:00:00":       "2030-01-31T12:00:00Z",
		"2030-01-31":                "2030-01-31T00:00:00Z",
	} {
		k, err := s.Create(t.Context(), auth.Everyone(), auth.Draft{ExpiresAt: &given})
		if err != nil {
			t.Errorf("Create with %q: %v", given, err)
			continue
		}
		if got := k.ExpiresAt.Format(time.RFC3339); got != want {
			t.Errorf("expiry %q = %s, want %s", given, got, want)
		}
	}
}

func TestManage(t *testing.T) {
	c := newClock()
	s := open(t, master, c)
	k, value := create(t, s, auth.Draft{Name: new("n"), Description: new("d"), Actions: []string{"search"}, Indexes: []string{"*"}})
	for _, by := range []string{k.UID, strings.ToUpper(k.UID), value} {
		if got, err := s.Key(by); err != nil || got.UID != k.UID {
			t.Errorf("Key(%.8s…) = %v, %v, want it", by, got.UID, err)
		}
	}
	c.t = c.t.Add(time.Minute)
	got, err := s.Update(t.Context(), auth.Everyone(), value, auth.Change{Name: apierr.Optional[string]{Set: true}})
	if err != nil || got.Name != nil || *got.Description != "d" || !got.UpdatedAt.Equal(c.t) || got.CreatedAt.Equal(c.t) {
		t.Errorf("Update = %+v, %v, want no name, the same description, and a new time", got, err)
	}
	all, total := s.Keys(0, 100)
	if total != 5 || !slices.IsSortedFunc(all, func(a, b auth.Key) int { return strings.Compare(a.UID, b.UID) }) {
		t.Errorf("Keys = %d in no order, want 5 by uid", total)
	}
	if page, total := s.Keys(3, 1); len(page) != 1 || total != 5 || page[0].UID != all[3].UID {
		t.Errorf("Keys(3, 1) = %v of %d, want the fourth of 5", page, total)
	}
	if page, _ := s.Keys(9, 2); len(page) != 0 {
		t.Errorf("Keys(9, 2) = %v, want none", page)
	}
	if err := s.Delete(t.Context(), value); err != nil {
		t.Fatal(err)
	}
	for what, f := range map[string]func() error{
		"Key":    func() error { _, err := s.Key(k.UID); return err },
		"Update": func() error { _, err := s.Update(t.Context(), auth.Everyone(), k.UID, auth.Change{}); return err },
		"Delete": func() error { return s.Delete(t.Context(), k.UID) },
	} {
		if err := f(); !apierr.Is(err, apierr.APIKeyNotFound) || strings.Contains(err.Error(), k.UID) {
			t.Errorf("%s of a deleted key: error %v, want %s without what was looked for", what, err, apierr.APIKeyNotFound)
		}
	}
	if _, err := s.Authenticate("Bearer " + value); !apierr.Is(err, apierr.InvalidAPIKey) {
		t.Errorf("Authenticate with a deleted key: error %v, want %s", err, apierr.InvalidAPIKey)
	}
}

func TestHammerKeys(t *testing.T) {
	s := open(t, master, newClock())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				k, err := s.Create(t.Context(), auth.Everyone(), auth.Draft{Actions: []string{"search"}, Indexes: []string{"*"}})
				if err != nil {
					t.Error(err)
					return
				}
				value := s.Value(&k)
				if _, err := s.Authenticate("Bearer " + value); err != nil {
					t.Errorf("Authenticate with a new key: %v", err)
				}
				s.Keys(0, 10)
				if err := s.Delete(t.Context(), k.UID); err != nil {
					t.Error(err)
				}
				if _, err := s.Authenticate("Bearer " + value); err == nil {
					t.Error("Authenticate with a deleted key passes")
				}
			}
		})
	}
	wg.Wait()
	if _, total := s.Keys(0, 0); total != 4 {
		t.Errorf("%d keys at the end, want 4", total)
	}
}

// TestKeysAreBounded: keys are held in memory, so that one has a bound, and all together have.
func TestKeysAreBounded(t *testing.T) {
	s := open(t, master, newClock())
	draft := func(text string, indexes int) auth.Draft {
		d := auth.Draft{Description: &text, Actions: []string{"search"}}
		for range indexes {
			d.Indexes = append(d.Indexes, strings.Repeat("i", 400))
		}
		return d
	}
	for _, tt := range []struct {
		draft auth.Draft
		code  apierr.Code
	}{{draft(strings.Repeat("x", 5000), 1), apierr.InvalidAPIKeyDescription}, {draft("", 200), apierr.InvalidAPIKeyIndexes}} {
		if _, err := s.Create(t.Context(), auth.Everyone(), tt.draft); !apierr.Is(err, tt.code) {
			t.Errorf("Create: %v, want %s", err, tt.code)
		}
	}
	key, err := s.Create(t.Context(), auth.Everyone(), draft("", 150))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 5000)
	if _, err := s.Update(t.Context(), auth.Everyone(), key.UID, auth.Change{Name: apierr.Optional[string]{Set: true, Value: &long}}); !apierr.Is(err, apierr.InvalidAPIKeyName) {
		t.Errorf("Update: %v, want %s", err, apierr.InvalidAPIKeyName)
	}
	for range (64 << 20) / key.Size() {
		if _, err = s.Create(t.Context(), auth.Everyone(), draft("", 150)); err != nil {
			break
		}
	}
	if !apierr.Is(err, apierr.BadRequest) {
		t.Errorf("after 64 MiB of keys: %v, want %s", err, apierr.BadRequest)
	}
	for range 20 { // what is left for a key is less than so many texts
		text := strings.Repeat("x", 4000)
		if key, err = s.Create(t.Context(), auth.Everyone(), draft("", 0)); err != nil {
			break
		}
		if _, err = s.Update(t.Context(), auth.Everyone(), key.UID, auth.Change{Name: apierr.Optional[string]{Set: true, Value: &text}}); err != nil {
			break
		}
	}
	if !apierr.Is(err, apierr.BadRequest) {
		t.Errorf("after 64 MiB of keys and of their names: %v, want %s", err, apierr.BadRequest)
	}
}
