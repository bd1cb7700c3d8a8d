package httpapi_test

import (
	"slices"
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/httpapi"
)

// TestRoutesTable checks each row of the API's table of contents.
func TestRoutesTable(t *testing.T) {
	r := newRig(t, wish{console: true})
	routes, ids := map[string]bool{}, map[string]bool{}
	pages := []string{"GET /", "GET /console/:file?", "GET /openapi.json", "GET /docs/:file?"}
	for _, row := range httpapi.Table(r.server) {
		if routes[row.Name] {
			t.Errorf("%s is declared twice", row.Name)
		}
		routes[row.Name] = true
		if isPage := slices.Contains(pages, row.Name); (row.ID == "") != isPage || ids[row.ID] && !isPage {
			t.Errorf("%s has the id %q, want one of its own, and none for a page", row.Name, row.ID)
		}
		ids[row.ID] = true
		if row.Public != (len(row.Actions) == 0) && row.Name != "GET /keys/current" {
			t.Errorf("%s is public: %v, with the actions %q", row.Name, row.Public, row.Actions)
		}
		for _, action := range row.Actions {
			if !slices.Contains(auth.Names(), action) {
				t.Errorf("%s asks for %q, which is not an action", row.Name, action)
			}
		}
		if event.LabelOf(row.Kind) != row.Family {
			t.Errorf("%s is counted as %q, and its row says %q", row.Name, event.LabelOf(row.Kind), row.Family)
		}
	}
}
