package httpapi

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
)

func TestReadiness(t *testing.T) {
	if err := readiness(false, false, 0); err != nil {
		t.Errorf("readiness of a host that lacks nothing: %v", err)
	}
	for _, tt := range []struct {
		down     bool
		loading  bool
		building int
		code     apierr.Code
		says     string
	}{
		{true, false, 0, apierr.ShuttingDown, "shutting down"},
		{true, true, 2, apierr.ShuttingDown, "shutting down"},
		{false, true, 2, chaterr.ChatProviderUnavailable, "plugins are being loaded"},
		{false, false, 2, indexerr.IndexNotReady, "2"},
	} {
		e := apierr.From(readiness(tt.down, tt.loading, tt.building))
		if e.Code != tt.code || !strings.Contains(e.Message, tt.says) {
			t.Errorf("readiness(%t, %t, %d) = %s %q, want %s with %q", tt.down, tt.loading, tt.building, e.Code, e.Message, tt.code, tt.says)
		}
	}
}
