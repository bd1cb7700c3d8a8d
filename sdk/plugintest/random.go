package plugintest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/parley-search/parley/abi/event"
)

// random returns an event of type E and its record. It has small numbers
// mostly, some that no metric has room for, ordinals and bits of a newer host,
// and more different handles than a set holds.
func random[E event.Type](d *CollectorDriver, rnd *rand.Rand) (any, []byte) {
	var e E
	v := reflect.ValueOf(&e).Elem()
	kind := event.KindFor[E]()
	for i := range v.NumField() {
		f, tag := v.Field(i), v.Type().Field(i).Tag
		switch field := f.Addr().Interface().(type) {
		case *event.Locales:
			field[0], field[1] = sparse(rnd), sparse(rnd)
		case *event.Flag:
			*field = event.FlagOf(rnd.IntN(4) == 0)
		case *event.MaybeFlag:
			*field = event.MaybeFlag(rnd.IntN(3))
		case *event.Count:
			*field = event.CountOf(number(rnd))
		case *event.MaybeCount:
			if rnd.IntN(2) == 0 {
				*field = event.MaybeCountOf(number(rnd))
			}
		case *event.Handle:
			*field = d.Handle(tag.Get("vocabulary"), fmt.Sprintf("text-%d", rnd.IntN(50)))
			if rnd.IntN(4) == 0 && kind != event.KindLaunch && kind != event.KindHost { // these name all that they have
				*field = 0
			}
		default:
			if strings.HasPrefix(f.Type().Name(), "Set[") {
				f.SetUint(sparse(rnd))
				continue
			}
			labels := f.Interface().(interface{ Labels() []string }).Labels()
			f.SetUint(rnd.Uint64N(uint64(len(labels) + 2)))
			if f.Uint() == 0 && kind == event.KindLaunch {
				f.SetUint(1)
			}
		}
	}
	return e, event.Append(nil, &e)
}

// sparse returns few bits, of all 64 places.
func sparse(rnd *rand.Rand) uint64 { return rnd.Uint64() & rnd.Uint64() & rnd.Uint64() & rnd.Uint64() }

func number(rnd *rand.Rand) uint64 {
	switch rnd.IntN(24) {
	case 0:
		return event.MaxCount
	case 1:
		return rnd.Uint64N(1 << 40)
	case 2, 3:
		return rnd.Uint64N(5000)
	default:
		return rnd.Uint64N(12)
	}
}

// randoms are the makers of events by kind.
var randoms = [...]func(*CollectorDriver, *rand.Rand) (any, []byte){
	event.KindLaunch: random[event.Launch], event.KindFeatures: random[event.Features], event.KindHost: random[event.Host],
	event.KindHTTPRequest: random[event.HTTPRequest], event.KindSearch: random[event.Search], event.KindFacetSearch: random[event.FacetSearch],
	event.KindMultiSearch: random[event.MultiSearch], event.KindDocuments: random[event.Documents], event.KindIndex: random[event.Index],
	event.KindSettings: random[event.Settings], event.KindTasks: random[event.Tasks], event.KindStats: random[event.Stats],
	event.KindNetwork: random[event.Network], event.KindExport: random[event.Export], event.KindChat: random[event.Chat],
}
