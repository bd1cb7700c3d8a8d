package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/api/httpapi"
)

// seedNodes loads the samples through the API of a node, and waits until every
// node answers from them.
func (d demo) seedNodes(ctx context.Context, f *fleet) error {
	samples, err := d.samples(ctx)
	if err != nil {
		return err
	}
	c := f.client(0)
	for _, s := range samples {
		if err := seedNode(ctx, c, s); err != nil {
			return fmt.Errorf("load the sample: %w", err)
		}
	}
	var want httpapi.ClusterBody
	if err := c.Call(ctx, http.MethodGet, "/cluster", nil, &want); err != nil {
		return err
	}
	return f.await(ctx, "all nodes have the samples", func() bool {
		for i := range f.addrs {
			var s httpapi.ClusterBody
			if f.client(i).Call(ctx, http.MethodGet, "/cluster", nil, &s) != nil || s.Words < want.Ahead {
				return false
			}
		}
		return true
	})
}

// seedNode is [host.Host.Seed] by the API.
func seedNode(ctx context.Context, c *cmdutil.Client, s host.Seed) error {
	if err := c.Call(ctx, http.MethodPatch, "/chats/"+s.Workspace+"/settings", json.RawMessage(s.Settings), new(any)); err != nil {
		return err
	}
	var there struct{ NumberOfDocuments int }
	if err := c.Call(ctx, http.MethodGet, "/indexes/"+s.Index+"/stats", nil, &there); err == nil && there.NumberOfDocuments > 0 {
		return nil
	}
	for _, send := range []struct {
		method, path string
		body         []byte
	}{
		{http.MethodPatch, "/settings", s.IndexSettings},
		{http.MethodPost, "/documents", s.Documents},
	} {
		if _, err := c.Finish(ctx, send.method, "/indexes/"+s.Index+send.path, json.RawMessage(bytes.TrimSpace(send.body))); err != nil {
			return err
		}
	}
	return nil
}
