package httpapi

import (
	"crypto/x509"
	"net/http"
	"slices"

	"github.com/parley-search/parley/abi/event"
)

// Ask has s answer a request without a connection.
func Ask(s *Server, req *http.Request) (*http.Response, error) { return s.app.Test(req, -1) }

// TrustLeader has s verify the certificate of the leader, which has a name, by authorities.
func TrustLeader(s *Server, name string, authorities *x509.CertPool) {
	c := s.leader.client.Transport.(*http.Transport).TLSClientConfig
	c.RootCAs, c.ServerName = authorities, name
}

// A Row is a route of the API as tests see it.
type Row struct {
	Name    string // "GET /path"
	ID      string
	Actions []string
	Public  bool
	Query   []string
	Family  string
	Kind    event.Route
	Dialect string // "", "openAI", "messages" or "rpc"
}

// Table lists the server's routes.
func Table(s *Server) []Row {
	rows := make([]Row, len(s.table))
	for i, rt := range s.table {
		rows[i] = Row{Name: rt.name(), ID: rt.id, Public: rt.public, Query: rt.query, Family: rt.family, Kind: rt.eventFamily(), Dialect: []string{"", "openAI", "messages", "rpc"}[rt.dialect]}
		for _, action := range rt.actions {
			rows[i].Actions = append(rows[i].Actions, string(action))
		}
	}
	return rows
}

// Routes lists the server's routes as "GET /path".
func Routes(s *Server) []string {
	var names []string
	for _, rt := range s.table {
		names = append(names, rt.name())
	}
	slices.Sort(names)
	return names
}
