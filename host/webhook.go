package host

import (
	"context"

	"github.com/parley-search/parley/host/internal/api/httpapi/taskapi"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/task/webhook"
)

// openWebhooks returns what tells addresses of finished tasks: the operator's,
// where one is configured, and those that clients added.
func (h *Host) openWebhooks(ctx context.Context, c config.Config, o Options, db *store.Store, sealer *store.Sealer) (*webhook.Service, error) {
	var operator *webhook.Hook
	if c.TaskWebhook != nil {
		operator = &webhook.Hook{URL: c.TaskWebhook.String()}
		if !c.TaskWebhookAuthorization.IsZero() {
			operator.Headers = map[string]secret.Text{"Authorization": c.TaskWebhookAuthorization}
		}
	}
	hooks, err := webhook.Open(ctx, webhook.Options{
		Store: db.Webhooks(sealer), Operator: operator, Render: taskapi.JSON,
		Post: func(hook webhook.Hook) (webhook.Poster, error) {
			to, err := upstream.ParseWebhookURL(hook.URL)
			if err != nil {
				return nil, err
			}
			return upstream.NewWebhook(to, hook.Headers, upstream.Options{UserAgent: "parley/" + o.Version, Private: c.PrivateNetworks}), nil
		},
		Failed: func(uid string, err error) { h.log.Warn().Str("webhook", uid).Err(err).Msg("webhook failed") },
	})
	if err != nil {
		return nil, err
	}
	h.onClose("webhooks", hooks.Close)
	return hooks, nil
}
