package httpapi_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/task"
)

// A misuse is a request that is answered with an error: 400 of this code, and
// a message that says what is wrong. Where the host accepts the request, as a
// task, it is the task that fails so.
type misuse struct{ code, request, body, says string }

// provokedElsewhere are the codes that need more than a request to this
// package's rig: where the test is, below host/internal, and its name.
var provokedElsewhere = map[string][2]string{
	"answer_too_large":              {"api/httpapi/hostile_sizes_test.go", "TestHostileAnswers"},
	"memory_exhausted":              {"api/httpapi/hostile_sizes_test.go", "TestHostileMemory"},
	"invalid_chat_feedback":         {"api/httpapi/feedback_test.go", "TestFeedback"},
	"chat_feedback_not_found":       {"api/httpapi/feedback_test.go", "TestFeedback"},
	"task_file_not_found":           {"api/httpapi/meilisearch_test.go", "TestTaskDocuments"},
	"model_not_found":               {"api/httpapi/v1_test.go", "TestV1Errors"},
	"model_required":                {"api/httpapi/v1_test.go", "TestV1Errors"},
	"too_many_requests":             {"api/httpapi/limits_test.go", "TestLimitsOfAllDoors"},
	"token_budget_spent":            {"api/httpapi/limits_test.go", "TestLimitsOfAllDoors"},
	"request_timeout":               {"api/httpapi/raw_test.go", "TestRawTimeouts"},
	"forbidden_host":                {"api/httpapi/site_test.go", "TestHostilePage"},
	"forbidden_origin":              {"api/httpapi/site_test.go", "TestHostilePage"},
	"headers_too_large":             {"api/httpapi/raw_test.go", "TestRawRequests"},
	"cluster_no_leader":             {"api/httpapi/cluster_test.go", "TestClusterRefuses"},
	"cluster_unknown":               {"api/httpapi/cluster_test.go", "TestClusterRefuses"},
	"cluster_behind":                {"api/httpapi/cluster_test.go", "TestClusterRefuses"},
	"index_halted":                  {"search/follow_test.go", "TestFollowPanics"},
	"cluster_stale":                 {"api/httpapi/cluster_test.go", "TestClusterRefuses"},
	"cluster_halted":                {"api/httpapi/cluster_test.go", "TestClusterRefuses"},
	"cluster_not_enabled":           {"api/httpapi/cluster_test.go", "TestClusterLeads"},
	"cluster_no_follower":           {"api/httpapi/cluster_test.go", "TestClusterLeads"},
	"cluster_node_too_old":          {"api/httpapi/cluster_test.go", "TestClusterLeads"},
	"cluster_snapshot_not_kept":     {"api/httpapi/cluster_test.go", "TestClusterLeads"},
	"invalid_cluster_seq":           {"api/httpapi/cluster_test.go", "TestClusterRefuses"},
	"shutting_down":                 {"api/httpapi/shutdown_test.go", "TestShutdownBeforeTheFirstEvent"},
	"llm_provider_rate_limited":     {"api/httpapi/chats_test.go", "TestCompletionProviderErrors"},
	"llm_provider_rejected_request": {"api/httpapi/chats_test.go", "TestCompletionProviderErrors"},
	"llm_provider_unauthorized":     {"api/httpapi/chats_test.go", "TestCompletionProviderErrors"},
	"llm_provider_error":            {"api/httpapi/chats_test.go", "TestCompletionProviderErrors"},
	"llm_provider_timeout":          {"api/httpapi/chats_test.go", "TestCompletionProviderErrors"},
	"chat_too_many_rounds":          {"chat/answer_search_test.go", "TestTooManyRounds"},
	"content_blocked":               {"chat/guarded_test.go", "TestGuardedBlocks"},
	"invalid_webhooks":              {"task/webhook/webhook_test.go", "TestTooMany"},
	"index_not_ready":               {"search/rebuild_test.go", "TestDamageWhileServing"},
	"too_many_search_requests":      {"search/facet_search_test.go", "TestSearchQueueHammer"},
	"remote_bad_request":            {"api/httpapi/remotes_test.go", "TestRemotesThatFail"},
	"remote_bad_response":           {"api/httpapi/remotes_test.go", "TestRemotesThatFail"},
	"remote_could_not_send_request": {"api/httpapi/remotes_test.go", "TestRemotesThatFail"},
	"remote_invalid_api_key":        {"api/httpapi/remotes_test.go", "TestRemotesThatFail"},
	"remote_remote_error":           {"api/httpapi/remotes_test.go", "TestRemotesThatFail"},
	"remote_timeout":                {"api/httpapi/remotes_test.go", "TestRemoteTimeout"},
	"plugins_not_reloaded":          {"../e2e/reload_test.go", "TestReload"},
	"plugin_not_accepted":           {"api/httpapi/plugin_changes_test.go", "TestPluginChanges"},
	"plugin_not_changed":            {"api/httpapi/plugin_changes_test.go", "TestPluginChanges"},
	"dump_process_failed":           {"../e2e/archives_test.go", "TestDumpFails"},
	"task_ended_host":               {"task/resume_test.go", "TestHostileTask"},
	"no_space_left_on_device":       {"data/store/space_test.go", "TestNoSpace"},
	"too_many_open_files":           {"search/descriptors_test.go", "TestTooManyOpenFiles"},
}

// TestEveryErrorCode provokes each code that there is, and wants its status and
// a message that helps. A new code needs a row in codes_rows_test.go.
//
//parley:option http-payload-size-limit
func TestEveryErrorCode(t *testing.T) {
	t.Parallel()
	told := make(map[string]bool)
	play := func(r *rig, list []scenario) {
		for i := range list {
			list[i].name = list[i].code
			told[list[i].code] = true
		}
		r.play(t, list)
	}
	r := newShelves(t)
	prepareMisuses(t, r)
	play(r, otherStatuses(r))
	for _, m := range misuses() {
		told[m.code] = true
		t.Run(m.code, func(t *testing.T) { m.play(t, r) })
	}
	play(newRig(t, wish{open: true}), []scenario{
		{code: "missing_master_key", method: "GET", path: "/keys", status: 401, contains: []string{"--master-key"}},
	})
	play(newRig(t, wish{panics: true, limits: httpapi.Limits{Body: 1000}}), []scenario{
		{code: "internal", method: "GET", path: "/plugins", status: 500, contains: []string{"its log has the details"}, excludes: []string{"secret words"}},
		{code: "payload_too_large", method: "POST", path: "/indexes", body: strings.Repeat(" ", 1001), status: 413, contains: []string{"1000 bytes", "--http-payload-size-limit"}},
	})

	codes := declaredCodes(t)
	for name, ident := range codes {
		where, elsewhere := provokedElsewhere[name]
		switch {
		case told[name] && elsewhere:
			t.Errorf("%s is provoked here: it need not be in provokedElsewhere", name)
		case elsewhere:
			checkTested(t, where, name, ident)
		case !told[name]:
			t.Errorf("nothing provokes %s: add a row to codes_rows_test.go, or name its test in provokedElsewhere", name)
		}
	}
	for name := range provokedElsewhere {
		told[name] = true
	}
	for name := range told {
		if codes[name] == "" {
			t.Errorf("the rows have the code %s, which no codes.go declares", name)
		}
	}
}

// prepareMisuses makes what the rows ask for beside shelves: the network, a
// workspace without a key, an index of vectors, one of places, and one without facet search.
func prepareMisuses(t *testing.T, r *rig) {
	t.Helper()
	for path, body := range map[string]string{"/experimental-features": `{"` + string(feature.Network) + `":true,"` + string(feature.Multimodal) + `":true}`, "/chats/keyless/settings": `{"source":"test"}`, "/chats/strict/settings": `{"source":"test","models":["gpt-*"]}`} {
		if a := r.do("PATCH", path, body); a.status != 200 {
			t.Fatalf("PATCH %s = %d %s", path, a.status, a.body)
		}
	}
	for _, a := range []answer{
		r.do("PUT", "/indexes/nofacets/settings/facet-search", `false`),
		r.do("PUT", "/indexes/places/settings/sortable-attributes", `["_geo"]`),
		r.do("PATCH", "/indexes/vectors/settings", `{"embedders":{"plane":{"source":"userProvided","dimensions":2}}}`),
		r.do("POST", "/indexes/vectors/documents", `[{"id":1,"_vectors":{"plane":[0,1]}}]`),
	} {
		if got := r.task(a); got.Status != task.Succeeded {
			t.Fatalf("task = %+v", got)
		}
	}
}

func (m *misuse) play(t *testing.T, r *rig) {
	method, path, _ := strings.Cut(m.request, " ")
	var header []string
	if strings.HasPrefix(m.body, "id,") {
		header = []string{"Content-Type", "text/csv"}
	}
	a := r.do(method, path, m.body, header...)
	if a.status != 202 {
		if a.status != 400 {
			t.Errorf("%s = %d, want 400: %s", m.request, a.status, a.body)
		}
		checkError(t, a, m.code)
		if !strings.Contains(a.body, m.says) {
			t.Errorf("%s: %s does not say %q", m.request, a.body, m.says)
		}
		return
	}
	got := r.task(a)
	if e := got.Error; got.Status != task.Failed || e == nil || e.Code != m.code || e.Type != "invalid_request" || !strings.Contains(e.Message, m.says) {
		t.Errorf("%s: the task is %s with %+v, want it to fail with %s that says %q", m.request, got.Status, e, m.code, m.says)
	}
}

// declaredCodes returns the variables of the files codes.go, such as
// apierr.NotFound, by the name on the wire.
func declaredCodes(t *testing.T) map[string]string {
	t.Helper()
	codes := make(map[string]string)
	for _, pattern := range []string{"codes.go", "*/codes.go"} {
		names, err := filepath.Glob(filepath.Join("..", "..", "base", "apierr", pattern))
		check(t, err)
		for _, name := range names {
			addCodes(t, codes, name)
		}
	}
	if len(codes) < 250 {
		t.Fatalf("found %d codes in the files codes.go, want all of them", len(codes))
	}
	return codes
}

// addCodes adds to codes what the file declares.
func addCodes(t *testing.T, codes map[string]string, name string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	check(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, v := range spec.Values {
			ident := file.Name.Name + "." + spec.Names[i].Name
			call, ok := v.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				t.Fatalf("%s is no code that this test can read", ident)
			}
			name, err := strconv.Unquote(call.Args[0].(*ast.BasicLit).Value)
			check(t, err)
			if other := codes[name]; other != "" {
				t.Errorf("%s and %s are both %s", other, ident, name)
			}
			codes[name] = ident
		}
		return false
	})
}

// checkTested wants the test to be there, and to name the code: as it is on the
// wire, or by its variable.
func checkTested(t *testing.T, where [2]string, name, ident string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(where[0])))
	check(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), where[0], source, parser.SkipObjectResolution)
	check(t, err)
	i := slices.IndexFunc(file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Name.Name == where[1]
	})
	if i < 0 {
		t.Errorf("%s has no %s, which is to provoke %s", where[0], where[1], name)
		return
	}
	body := string(source[file.Decls[i].Pos()-file.FileStart : file.Decls[i].End()-file.FileStart])
	if !strings.Contains(body, name) && !strings.Contains(body, ident) {
		t.Errorf("%s of %s does not name %s", where[1], where[0], name)
	}
}
