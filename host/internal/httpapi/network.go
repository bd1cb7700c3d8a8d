package httpapi

import "github.com/parley-search/parley/host/internal/network"

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

// getNetwork answers GET /network.
func (s *Server) getNetwork(r *call) error {
	n, err := s.Network.Network(s.ctx)
	if err != nil {
		return err
	}
	return ok(r, newNetworkBody(n))
}

// patchNetwork answers PATCH /network.
func (s *Server) patchNetwork(r *call) error {
	body, err := s.body(r)
	if err != nil {
		return err
	}
	n, err := s.Network.Patch(s.ctx, body)
	if err != nil {
		return err
	}
	return ok(r, newNetworkBody(n))
}
