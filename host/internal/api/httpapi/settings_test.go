package httpapi_test

import (
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/task"
)

// TestSettingsRights wants the settings read and written only by keys that may.
func TestSettingsRights(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	reader := []string{"Authorization", "Bearer " + r.key([]string{string(auth.SettingsGet)}, []string{"movies"})}
	writer := []string{"Authorization", "Bearer " + r.key([]string{string(auth.SettingsUpdate)}, []string{"movies"})}
	for _, name := range []string{"", "/synonyms"} {
		path, verb := "/indexes/movies/settings"+name, "PUT"
		if name == "" {
			verb = "PATCH"
		}
		r.play(t, []scenario{
			{name: "read by a reader", method: "GET", path: path, header: reader, status: 200},
			{name: "read by a writer", method: "GET", path: path, header: writer, status: 403, code: "invalid_api_key"},
			{name: "written by a reader", method: verb, path: path, body: `{}`, header: reader, status: 403, code: "invalid_api_key"},
			{name: "reset by a reader", method: "DELETE", path: path, header: reader, status: 403, code: "invalid_api_key"},
			{name: "written by a writer", method: verb, path: path, body: `{}`, header: writer, status: 202},
			{name: "reset by a writer", method: "DELETE", path: path, header: writer, status: 202, contains: []string{`"type":"settingsUpdate"`}},
			{name: "read elsewhere", method: "GET", path: "/indexes/secret/settings" + name, header: reader, status: 404, code: "index_not_found"},
			{name: "written elsewhere", method: verb, path: "/indexes/secret/settings" + name, body: `{}`, header: writer, status: 404, code: "index_not_found"},
		})
	}
}

// wrongSettings has, for each setting, a value that it does not take, and the
// code that says so.
func wrongSettings() map[string]struct{ value, code string } {
	return map[string]struct{ value, code string }{
		"displayed-attributes":  {`"a"`, "invalid_settings_displayed_attributes"},
		"searchable-attributes": {`[1]`, "invalid_settings_searchable_attributes"},
		"filterable-attributes": {`[{}]`, "invalid_settings_filterable_attributes"},
		"sortable-attributes":   {`["a*"]`, "invalid_settings_sortable_attributes"},
		"ranking-rules":         {`["best"]`, "invalid_settings_ranking_rules"},
		"stop-words":            {`{}`, "invalid_settings_stop_words"},
		"non-separator-tokens":  {`[1]`, "invalid_settings_non_separator_tokens"},
		"separator-tokens":      {`[1]`, "invalid_settings_separator_tokens"},
		"dictionary":            {`[1]`, "invalid_settings_dictionary"},
		"synonyms":              {`[]`, "invalid_settings_synonyms"},
		"distinct-attribute":    {`7`, "invalid_settings_distinct_attribute"},
		"proximity-precision":   {`"far"`, "invalid_settings_proximity_precision"},
		"typo-tolerance":        {`{"enabled":"no"}`, "invalid_settings_typo_tolerance"},
		"faceting":              {`{"maxValuesPerFacet":"all"}`, "invalid_settings_faceting"},
		"pagination":            {`{"maxTotalHits":-1}`, "invalid_settings_pagination"},
		"embedders":             {`{"e":{"source":"magic"}}`, "invalid_settings_embedders"},
		"search-cutoff-ms":      {`"soon"`, "invalid_settings_search_cutoff_ms"},
		"localized-attributes":  {`[{}]`, "invalid_settings_localized_attributes"},
		"facet-search":          {`1`, "invalid_settings_facet_search"},
		"prefix-search":         {`true`, "invalid_settings_prefix_search"},
		"chat":                  {`{"limit":1}`, "invalid_settings_index_chat"},
	}
}

// TestEachSetting goes through the routes of every setting.
func TestEachSetting(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	wrong := wrongSettings()
	for name, patch := range settings.SettingRoutes() {
		t.Run(name, func(t *testing.T) {
			path, verb := "/indexes/movies/settings/"+name, "PUT"
			if patch {
				verb = "PATCH"
			}
			before := r.do("GET", path, "")
			if before.status != 200 {
				t.Fatalf("GET %s = %d %s", path, before.status, before.body)
			}
			w, ok := wrong[name]
			if !ok {
				t.Fatalf("no wrong value of %s to send", name)
			}
			refused := r.do(verb, path, w.value)
			if refused.status != 400 {
				t.Errorf("%s %s %s = %d, want 400", verb, path, w.value, refused.status)
			}
			checkError(t, refused, w.code)
			for _, a := range []answer{r.do(verb, path, before.body), r.do("DELETE", path, ""), r.do(verb, path, "null")} {
				if got := r.task(a); got.Status != task.Succeeded {
					t.Errorf("task of %s = %+v, error %+v", path, got, got.Error)
				}
			}
			if reset, want := r.do("GET", path, ""), r.do("GET", "/indexes/secret/settings/"+name, ""); reset.body != want.body {
				t.Errorf("%s reset is %s, want %s", name, reset.body, want.body)
			}
		})
	}
	if got, want := len(wrong), len(settings.SettingRoutes()); got != want {
		t.Errorf("%d settings, want the %d of the test's table", want, got)
	}
}
