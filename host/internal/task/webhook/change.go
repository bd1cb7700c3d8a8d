package webhook

import (
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
)

const (
	maxHeaders = 200
	maxName    = 100
	maxValue   = 8 << 10
)

// A change is the body of POST and PATCH /webhooks: a value sets, null takes
// away, what is absent stays; the same for each header.
type change struct {
	URL        apierr.Optional[string]                             `json:"url"`
	Headers    apierr.Optional[map[string]apierr.Optional[string]] `json:"headers"`
	UUID       apierr.Optional[any]                                `json:"uuid"`
	IsEditable apierr.Optional[any]                                `json:"isEditable"`
}

// New returns the hook of a URL and headers that did not come as a body. The
// error is that of [Service.Create].
func New(url string, headers map[string]string) (Hook, error) {
	all := make(map[string]apierr.Optional[string], len(headers))
	for name, value := range headers {
		all[name] = apierr.Optional[string]{Set: true, Value: &value}
	}
	c := change{URL: apierr.Optional[string]{Set: true, Value: &url}, Headers: apierr.Optional[map[string]apierr.Optional[string]]{Set: true, Value: &all}}
	return c.apply(Hook{})
}

func readChange(body []byte) (c change, err error) {
	err = apierr.DecodeStrict(body, &c, apierr.Fields{
		"url": apierr.InvalidWebhookURL, "headers": apierr.InvalidWebhookHeaders, "headers.*": apierr.InvalidWebhookHeaders,
	})
	switch {
	case err != nil:
	case c.UUID.Set:
		err = apierr.Newf(apierr.ImmutableWebhookUUID, "`uuid` is given by the host: leave it out.")
	case c.IsEditable.Set:
		err = apierr.Newf(apierr.ImmutableWebhookIsEditable, "`isEditable` says whether clients may change a webhook, and is not changed itself: leave it out.")
	}
	return c, err
}

// apply returns old as it is after c.
func (c *change) apply(old Hook) (Hook, error) {
	h := Hook{URL: old.URL, Headers: maps.Clone(old.Headers)}
	if h.Headers == nil {
		h.Headers = map[string]secret.Text{}
	}
	if c.URL.Set {
		h.URL = ""
		if c.URL.Value != nil {
			if _, err := outbound.ParseURL(*c.URL.Value, outbound.URLRules{Query: true}); err != nil {
				return h, apierr.Newf(apierr.InvalidWebhookURL, "`url` %v: it must be a URL such as \"https://example.com/tasks\", of http or https, without user, password and fragment.", err)
			}
			h.URL = *c.URL.Value
		}
	}
	if h.URL == "" {
		return h, apierr.Newf(apierr.InvalidWebhookURL, "`url` is missing: send the address that is to be told, such as \"https://example.com/tasks\".")
	}
	if !outbound.SameHost(old.URL, h.URL) {
		clear(h.Headers) // a secret stays with the host that it was given for
	}
	return h, c.applyHeaders(&h, old)
}

func (c *change) applyHeaders(h *Hook, old Hook) error {
	if !c.Headers.Set {
		return nil
	}
	if c.Headers.Value == nil {
		clear(h.Headers)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(*c.Headers.Value)) {
		value := (*c.Headers.Value)[name].Value
		if !headerName(name) {
			return apierr.Newf(apierr.InvalidWebhookHeaders, "`headers` has the key %.120q, which is not the name of a header that can be set.", name)
		}
		if value == nil {
			delete(h.Headers, name)
			continue
		}
		before := secret.Obfuscate(old.Headers[name])
		switch {
		case before != "" && *value == before: // sent back as it was shown
			if _, kept := h.Headers[name]; kept {
				continue
			}
			fallthrough
		case secret.IsObfuscated(*value):
			return apierr.Newf(apierr.InvalidWebhookHeaders, "`headers.%s` is a value as it is shown, and not that of the stored one: send the value itself, or leave the header out to keep what is stored.", name)
		case len(*value) > maxValue || strings.ContainsFunc(*value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return apierr.Newf(apierr.InvalidWebhookHeaders, "`headers.%s` must be a text of one line, of at most %d bytes.", name, maxValue)
		}
		h.Headers[name] = secret.New(*value)
	}
	if len(h.Headers) > maxHeaders {
		return apierr.Newf(apierr.InvalidWebhookHeaders, "The webhook would have %d headers: it may have at most %d. null takes one away.", len(h.Headers), maxHeaders)
	}
	return nil
}

// headerName takes the names of headers that belong neither to the connection
// nor to the message.
func headerName(name string) bool {
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') && !strings.ContainsRune("-_!#$%&'*+.^`|~", rune(c)) {
			return false
		}
	}
	own := []string{"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "te", "trailer", "upgrade", "keep-alive", "proxy-authorization", "proxy-connection"}
	return name != "" && len(name) <= maxName && !slices.Contains(own, strings.ToLower(name))
}
