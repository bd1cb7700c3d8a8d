// Command meilisearch runs meilisearch-go against a host: indexes, settings,
// documents, tasks, searches alone and together, facets, keys and tenant
// tokens.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/meilisearch/meilisearch-go"
)

const uid = "movies-go"

var client = meilisearch.New(os.Getenv("CLIENT_HOST"), meilisearch.WithAPIKey(os.Getenv("CLIENT_MASTER_KEY")), meilisearch.DisableRetries())

func main() {
	index := client.Index(uid)

	check("health", func() error { _, err := client.Health(); return err })
	check("index", func() error {
		if err := done(client.CreateIndex(&meilisearch.IndexConfig{Uid: uid, PrimaryKey: "id"})); err != nil {
			return err
		}
		key, err := index.FetchPrimaryKey()
		return errors.Join(err, want(key != nil && *key == "id", key))
	})
	check("settings", func() error {
		err := done(index.UpdateSettings(&meilisearch.Settings{
			SearchableAttributes: []string{"title"}, FilterableAttributes: []string{"genre", "year"}, SortableAttributes: []string{"year"},
			Embedders: map[string]meilisearch.Embedder{"plots": {Source: "userProvided", Dimensions: 2}},
		}))
		if err != nil {
			return err
		}
		s, err := index.GetSettings()
		return errors.Join(err, want(err == nil && s.Embedders["plots"].Dimensions == 2 && slices.Equal(s.SortableAttributes, []string{"year"}), s))
	})
	check("documents", func() error {
		films := []map[string]any{
			{"id": 1, "title": "Alien", "genre": "horror", "year": 1979, "_vectors": map[string]any{"plots": []float32{1, 0}}},
			{"id": 2, "title": "Arrival", "genre": "drama", "year": 2016, "_vectors": map[string]any{"plots": []float32{0, 1}}},
		}
		err := errors.Join(
			done(index.AddDocuments(films, nil)),
			done(index.AddDocumentsNdjson([]byte(`{"id":3,"title":"Heat","genre":"crime"}`), nil)),
			done(index.UpdateDocuments([]map[string]any{{"id": 3, "year": 1995}}, nil)),
		)
		var heat struct {
			Title string
			Year  int
		}
		err = errors.Join(err, index.GetDocument("3", nil, &heat))
		return errors.Join(err, want(heat.Title == "Heat" && heat.Year == 1995, heat))
	})
	check("tasks", func() error {
		tasks, err := client.GetTasks(&meilisearch.TasksQuery{IndexUIDS: []string{uid}, Statuses: []meilisearch.TaskStatus{meilisearch.TaskStatusSucceeded}})
		return errors.Join(err, want(err == nil && tasks.Total == 5, tasks))
	})
	check("search", func() error {
		found, err := index.Search("arival", &meilisearch.SearchRequest{Filter: "year > 1990", Facets: []string{"genre"}, AttributesToHighlight: []string{"title"}})
		return errors.Join(err, want(err == nil && ids(found.Hits) == "2" && string(found.FacetDistribution) == `{"genre":{"drama":1}}`, found))
	})
	check("search by meaning", func() error {
		found, err := index.Search("", &meilisearch.SearchRequest{Vector: []float32{0.1, 1}, Hybrid: &meilisearch.SearchRequestHybrid{Embedder: "plots", SemanticRatio: 1}})
		return errors.Join(err, want(err == nil && ids(found.Hits) == "2 1 3", found)) // the last has no vector
	})
	check("multi-search", func() error {
		found, err := client.MultiSearch(&meilisearch.MultiSearchRequest{Queries: []*meilisearch.SearchRequest{{IndexUID: uid, Query: "heat"}, {IndexUID: uid, Sort: []string{"year:asc"}}}})
		if err != nil {
			return err
		}
		return want(len(found.Results) == 2 && ids(found.Results[0].Hits) == "3" && ids(found.Results[1].Hits) == "1 3 2", found)
	})
	check("facet search", func() error {
		raw, err := index.FacetSearch(&meilisearch.FacetSearchRequest{FacetName: "genre", FacetQuery: "dra"})
		return errors.Join(err, want(err == nil && strings.Contains(string(*raw), `{"value":"drama","count":1}`), raw))
	})
	check("keys and tenant tokens", tenant)
	check("errors", func() error {
		_, err := index.Search("x", &meilisearch.SearchRequest{Filter: "title = x"})
		e, ok := errors.AsType[*meilisearch.Error](err)
		return want(ok && e.StatusCode == 400 && e.MeilisearchApiError.Code == "invalid_search_filter", err)
	})
	check("deletion", func() error {
		return errors.Join(done(index.DeleteDocumentsByFilter("year < 1990", nil)), done(index.DeleteAllDocuments(nil)), done(client.DeleteIndex(uid)))
	})
}

// tenant makes a key, and of it a token for one genre.
func tenant() error {
	key, err := client.CreateKey(&meilisearch.Key{Name: "shop", Actions: []string{"search"}, Indexes: []string{uid}, ExpiresAt: time.Now().Add(time.Hour)})
	if err != nil {
		return err
	}
	rules := map[string]any{uid: map[string]any{"filter": "genre = crime"}}
	token, err := client.GenerateTenantToken(key.UID, rules, &meilisearch.TenantTokenOptions{APIKey: key.Key, ExpiresAt: time.Now().Add(time.Hour)})
	if err != nil {
		return err
	}
	found, err := meilisearch.New(os.Getenv("CLIENT_HOST"), meilisearch.WithAPIKey(token)).Index(uid).Search("", &meilisearch.SearchRequest{})
	if err != nil {
		return err
	}
	_, err = client.DeleteKey(key.UID)
	return errors.Join(err, want(ids(found.Hits) == "3", found))
}

// done waits for a task, which must succeed.
func done(info *meilisearch.TaskInfo, err error) error {
	if err != nil {
		return err
	}
	task, err := client.WaitForTask(info.TaskUID, 20*time.Millisecond)
	if err != nil {
		return err
	}
	return want(task.Status == meilisearch.TaskStatusSucceeded, task.Error)
}

// ids are those of hits, with spaces between.
func ids(hits meilisearch.Hits) string {
	var all []string
	for _, h := range hits {
		all = append(all, string(h["id"]))
	}
	return strings.Join(all, " ")
}

func want(ok bool, got any) error {
	if ok {
		return nil
	}
	b, err := json.Marshal(got)
	if err != nil {
		return err
	}
	return fmt.Errorf("got %s", b)
}

func check(name string, f func() error) {
	if err := f(); err != nil {
		fmt.Println("FAIL meilisearch-go", name, err)
		os.Exit(1)
	}
	fmt.Println("ok   meilisearch-go", name)
}
