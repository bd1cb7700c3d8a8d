package httpapi

import (
	"net/http"
	"slices"
)

// Ask has s answer a request without a connection.
func Ask(s *Server, req *http.Request) (*http.Response, error) { return s.app.Test(req, -1) }

// Actions are the actions of the server's routes, by "GET /path"; empty for those
// that ask for no key.
func Actions(s *Server) map[string]string {
	actions := map[string]string{}
	for _, r := range s.app.GetRoutes(true) {
		if r.Method != http.MethodHead {
			actions[r.Method+" "+r.Path] = r.Name
		}
	}
	return actions
}

// Routes lists the server's routes as "GET /path".
func Routes(s *Server) []string {
	var names []string
	for _, r := range s.app.GetRoutes(true) {
		if r.Method != "HEAD" {
			names = append(names, r.Method+" "+r.Path)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
