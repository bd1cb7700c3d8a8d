// Package chattest holds the contracts of package chat's interfaces as tests,
// and small real implementations of them.
package chattest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// Workspaces is a map that is a [workspace.Workspaces].
type Workspaces struct {
	mu     sync.Mutex
	stored map[string]workspace.Workspace
}

// Workspace implements [workspace.Workspaces].
func (m *Workspaces) Workspace(_ context.Context, uid string) (*workspace.Workspace, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.stored[uid]
	if !ok {
		return nil, workspace.NotFound(uid)
	}
	return &w, nil
}

// WorkspaceUIDs implements [workspace.Workspaces].
func (m *Workspaces) WorkspaceUIDs(_ context.Context, offset, limit int) ([]string, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Sorted(maps.Keys(m.stored))
	from := min(offset, len(all))
	return all[from : from+min(limit, len(all)-from)], len(all), nil
}

// UpdateWorkspace implements [workspace.Workspaces].
func (m *Workspaces) UpdateWorkspace(_ context.Context, uid string, f func(*workspace.Workspace) (*workspace.Workspace, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var old *workspace.Workspace
	if w, ok := m.stored[uid]; ok {
		old = &w
	}
	w, err := f(old)
	if err != nil {
		return err
	}
	if m.stored == nil {
		m.stored = make(map[string]workspace.Workspace)
	}
	m.stored[uid] = *w
	return nil
}

// DeleteWorkspace implements [workspace.Workspaces].
func (m *Workspaces) DeleteWorkspace(_ context.Context, uid string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.stored[uid]; !ok {
		return workspace.NotFound(uid)
	}
	delete(m.stored, uid)
	return nil
}

// TestWorkspaces checks s, which must be empty, against the contract of
// [workspace.Workspaces].
func TestWorkspaces(t *testing.T, s workspace.Workspaces) {
	t.Helper()
	t.Run("Absent", func(t *testing.T) { testAbsent(t, s) })
	t.Run("RoundTrip", func(t *testing.T) { testRoundTrip(t, s) })
	t.Run("Refused", func(t *testing.T) { testRefused(t, s) })
	t.Run("List", func(t *testing.T) { testList(t, s) })
	t.Run("Hammer", func(t *testing.T) { testHammer(t, s) })
}

func testAbsent(t *testing.T, s workspace.Workspaces) {
	if _, err := s.Workspace(t.Context(), "nope"); !apierr.Is(err, chaterr.ChatNotFound) {
		t.Errorf("Workspace of an absent uid: error %v, want %s", err, chaterr.ChatNotFound)
	}
	if err := s.DeleteWorkspace(t.Context(), "nope"); !apierr.Is(err, chaterr.ChatNotFound) {
		t.Errorf("DeleteWorkspace of an absent uid: error %v, want %s", err, chaterr.ChatNotFound)
	}
	if uids, total, err := s.WorkspaceUIDs(t.Context(), 0, 20); len(uids) != 0 || total != 0 || err != nil {
		t.Errorf("WorkspaceUIDs of an empty store = %q, %d, %v", uids, total, err)
	}
}

func testRoundTrip(t *testing.T, s workspace.Workspaces) {
	text, empty := "Be brief.", ""
	full := workspace.Workspace{
		UID: "full", Source: "openAi", OrgID: "o", ProjectID: "p", APIVersion: "v", DeploymentID: "d",
		BaseURL: "https://llm.example.com/v1", APIKey: secret.New("sk-a-key-of-some-length"),
		Prompts:   workspace.PromptTexts{System: &text, SearchQParam: &empty},
		IndexUIDs: []string{"movies"}, Parameters: json.RawMessage(`{"temperature":0.10}`), Plugin: "mine", PluginVersion: "~1.2",
		Enforced: json.RawMessage(`{"store":null}`), MaxCompletionTokens: 7, ClientMessages: "noSystem", NoClientTools: true, NoTools: true, MaxInputBytes: 8, MaxMessages: 9, MaxRounds: 10,
		Limits: limit.Limits{Parallel: 3, Tokens: limit.Budget{Amount: 4, Period: limit.Total}}, Fallback: []string{"other"}, FirstByteSeconds: 300,
	}
	none := workspace.Workspace{UID: "none", Source: "vLlm", IndexUIDs: []string{}}
	for _, want := range []workspace.Workspace{full, none, {UID: "bare", Source: "vLlm"}} {
		err := s.UpdateWorkspace(t.Context(), want.UID, func(old *workspace.Workspace) (*workspace.Workspace, error) {
			if old != nil {
				t.Errorf("UpdateWorkspace of an absent uid gives %+v", old)
			}
			w := want
			return &w, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Workspace(t.Context(), want.UID)
		if err != nil {
			t.Fatal(err)
		}
		if got.APIKey.Reveal() != want.APIKey.Reveal() {
			t.Errorf("the key of %s did not come back", want.UID)
		}
		plain := *got
		plain.APIKey, want.APIKey = secret.Text{}, secret.Text{}
		if !reflect.DeepEqual(plain, want) {
			t.Errorf("Workspace after UpdateWorkspace = %+v, want %+v", plain, want)
		}
		if err := s.DeleteWorkspace(t.Context(), want.UID); err != nil {
			t.Fatal(err)
		}
	}
}

func testRefused(t *testing.T, s workspace.Workspaces) {
	put(t, s, "kept")
	refusal := errors.New("no")
	err := s.UpdateWorkspace(t.Context(), "kept", func(old *workspace.Workspace) (*workspace.Workspace, error) {
		old.OrgID = "changed"
		return old, refusal
	})
	if err != refusal { //nolint:errorlint // as it is, says the contract
		t.Errorf("UpdateWorkspace = %v, want f's own error", err)
	}
	if w, err := s.Workspace(t.Context(), "kept"); err != nil || w.OrgID != "" {
		t.Errorf("after a refused update: %+v, %v; want it unchanged", w, err)
	}
	if err := s.DeleteWorkspace(t.Context(), "kept"); err != nil {
		t.Error(err)
	}
}

func testList(t *testing.T, s workspace.Workspaces) {
	names := []string{"B", "a", "a-", "a_b", "ab"} // in byte order
	for _, i := range []int{3, 0, 4, 2, 1} {
		put(t, s, names[i])
	}
	for _, tt := range []struct {
		offset, limit int
		want          []string
	}{{0, 20, names}, {1, 2, names[1:3]}, {4, 2, names[4:]}, {9, 2, nil}, {0, 0, nil}} {
		got, total, err := s.WorkspaceUIDs(t.Context(), tt.offset, tt.limit)
		if !slices.Equal(got, tt.want) || total != len(names) || err != nil {
			t.Errorf("WorkspaceUIDs(%d, %d) = %q, %d, %v; want %q, %d", tt.offset, tt.limit, got, total, err, tt.want, len(names))
		}
	}
	for _, n := range names {
		if err := s.DeleteWorkspace(t.Context(), n); err != nil {
			t.Error(err)
		}
	}
}

func testHammer(t *testing.T, s workspace.Workspaces) {
	const workers, turns = 8, 25
	put(t, s, "busy")
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range turns {
				err := s.UpdateWorkspace(t.Context(), "busy", func(old *workspace.Workspace) (*workspace.Workspace, error) {
					var n int
					_, _ = fmt.Sscan(old.OrgID, &n) // 0 where it is empty
					old.OrgID = fmt.Sprint(n + 1)
					return old, nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	w, err := s.Workspace(t.Context(), "busy")
	if err != nil || w.OrgID != fmt.Sprint(workers*turns) {
		t.Errorf("after %d updates of one number: %+v, %v", workers*turns, w, err)
	}
	if err := s.DeleteWorkspace(t.Context(), "busy"); err != nil {
		t.Error(err)
	}
}

func put(t *testing.T, s workspace.Workspaces, uid string) {
	t.Helper()
	err := s.UpdateWorkspace(t.Context(), uid, func(*workspace.Workspace) (*workspace.Workspace, error) {
		return &workspace.Workspace{UID: uid, Source: "openAi"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
