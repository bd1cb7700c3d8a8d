package figures

import (
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/setup/metrics"
)

// Requests is what GET /metrics has of the memory that requests hold.
func Requests(a *memory.Account) []metrics.Family {
	one := func(name, help string, kind metrics.Kind, value float64) metrics.Family {
		return metrics.Family{Name: "parley_request_memory_" + name, Help: help, Kind: kind, Samples: []metrics.Sample{{Value: value}}}
	}
	held, limit, refused := a.Figures()
	return []metrics.Family{
		one("bytes", "Memory that bodies and answers of the requests under way take, by estimate.", metrics.Gauge, float64(held)),
		one("limit_bytes", "Memory that they may take together.", metrics.Gauge, float64(limit)),
		one("refused_total", "Requests that there was no memory for.", metrics.Counter, float64(refused)),
	}
}
