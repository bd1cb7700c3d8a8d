package plugintest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/parley-search/parley/abi/event"
)

// randomEvent returns an event of that kind, such as an event.Search, and its
// record. It has small numbers mostly, some that no metric has room for,
// ordinals and bits of a newer host, and more different handles than a set
// holds.
func randomEvent(d *CollectorDriver, kind event.Kind, rnd *rand.Rand) (any, []byte) {
	e := event.New(kind)
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		f, tag := v.Field(i), v.Type().Field(i).Tag
		switch field := f.Addr().Interface().(type) {
		case *event.Locales:
			field[0], field[1] = sparseBits(rnd), sparseBits(rnd)
		case *event.Flag:
			*field = event.FlagOf(rnd.IntN(4) == 0)
		case *event.MaybeFlag:
			*field = event.MaybeFlag(rnd.IntN(3))
		case *event.Count:
			*field = event.CountOf(randomNumber(rnd))
		case *event.MaybeCount:
			if rnd.IntN(2) == 0 {
				*field = event.MaybeCountOf(randomNumber(rnd))
			}
		case *event.Handle:
			*field = d.Handle(tag.Get("vocabulary"), fmt.Sprintf("text-%d", rnd.IntN(50)))
			if rnd.IntN(4) == 0 && kind != event.KindLaunch && kind != event.KindHost { // these name all that they have
				*field = 0
			}
		default:
			if strings.HasPrefix(f.Type().Name(), "Set[") {
				f.SetUint(sparseBits(rnd))
				continue
			}
			labels := f.Interface().(interface{ Labels() []string }).Labels()
			f.SetUint(rnd.Uint64N(uint64(len(labels) + 2)))
			if f.Uint() == 0 && kind == event.KindLaunch {
				f.SetUint(1)
			}
		}
	}
	return v.Interface(), event.AppendAny(nil, e)
}

// sparseBits returns few bits, of all 64 places.
func sparseBits(rnd *rand.Rand) uint64 {
	return rnd.Uint64() & rnd.Uint64() & rnd.Uint64() & rnd.Uint64()
}

// randomNumber returns a count as one of a metric's may be.
func randomNumber(rnd *rand.Rand) uint64 {
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
