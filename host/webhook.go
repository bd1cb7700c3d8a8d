package host

import (
	"github.com/parley-search/parley/host/internal/config"
	"github.com/parley-search/parley/host/internal/httpapi"
	"github.com/parley-search/parley/host/internal/task"
	"github.com/parley-search/parley/host/internal/upstream"
)

// startWebhook returns what tells the operator's address of finished tasks,
// where one is configured.
func (h *Host) startWebhook(c config.Config, o Options) func([]task.Task) {
	if c.TaskWebhook == nil {
		return func([]task.Task) {}
	}
	to := upstream.NewWebhook(c.TaskWebhook, c.TaskWebhookAuthorization, upstream.Options{UserAgent: "parley/" + o.Version, Private: c.PrivateNetworks})
	h.onClose("connections of the webhook", to.Close)
	w := task.NewWebhook(task.WebhookOptions{
		To: to, Render: httpapi.TaskJSON,
		Failed: func(err error) { h.log.Warn().Err(err).Msg("task webhook failed") },
	})
	h.onClose("the webhook", w.Close)
	return w.Finished
}
