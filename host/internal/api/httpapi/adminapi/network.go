package adminapi

import (
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/search/network"
)

type networkBody struct {
	Self    *string               `json:"self"`
	Remotes map[string]remoteBody `json:"remotes"`
}

type remoteBody struct {
	URL string `json:"url"`
	// SearchAPIKey is what may be seen of the key.
	SearchAPIKey *string `json:"searchApiKey"`
}

func newNetworkBody(n *network.Network) networkBody {
	b := networkBody{Self: orNil(n.Self), Remotes: make(map[string]remoteBody, len(n.Remotes))}
	for name, r := range n.Remotes {
		b.Remotes[name] = remoteBody{r.URL, orNil(r.ShownKey())}
	}
	return b
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// GetNetwork answers GET /network.
func (s *Server) GetNetwork(r *request.Call) error {
	n, err := s.Network.Network(r.Base)
	if err != nil {
		return err
	}
	return r.OK(newNetworkBody(n))
}

// PatchNetwork answers PATCH /network.
func (s *Server) PatchNetwork(r *request.Call) error {
	body, err := r.ReadBody()
	if err != nil {
		return err
	}
	n, err := s.Network.Patch(r.Base, body)
	if err != nil {
		return err
	}
	return r.OK(newNetworkBody(n))
}
