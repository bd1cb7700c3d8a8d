package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/outbound/outboundtest"
)

// TestBadAddresses gives each bad address to each option that takes one.
func TestBadAddresses(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, o := range AllOptions() {
		if !slices.Contains([]string{"webhook", "public URL", "origins", "urls"}, o.Kind.Name) && !strings.HasSuffix(o.Name, "-url") && o.Name != "otlp-endpoint" && o.Name != "cluster-advertise" {
			continue
		}
		tried++
		bad := outboundtest.BadURLs
		if o.Kind.Name != "urls" { // NATS takes a login
			bad = slices.Concat(bad, outboundtest.UserURLs)
		}
		for _, text := range bad {
			if strings.TrimSpace(text) != text && (o.Kind.Name == "urls" || o.Kind.Name == "origins") {
				continue // a list, with blanks between its items
			}
			if err := o.Kind.set(&Config{}, text); err == nil || strings.Contains(err.Error(), "s3cret") && o.Kind.Name != "origins" {
				t.Errorf("--%s %q: %v, want an error without the text", o.Name, text, err)
			}
		}
	}
	if tried < 6 {
		t.Errorf("%d options tried, want all that take an address", tried)
	}
}
