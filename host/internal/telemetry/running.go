package telemetry

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
)

// maxStrikes is how many bad windows and faults on end switch a collector off.
const maxStrikes = 3

// running is one collector with its instance. The engine's lock guards it.
type running struct {
	collector Collector
	events    uint64 // bit k: it is given events of kind k
	instance  Instance
	saved     []byte // from which a new instance goes on
	described []byte // what it was told last of process and machine

	off     string // why it is off until restart; empty while it runs
	strikes int
	faults  int64
	bad     int64 // windows of which something was left out
	given   int64 // events
	refused int64 // events that it did not take
}

func newRunning(c Collector) *running {
	r := &running{collector: c}
	for _, name := range c.Manifest().Events {
		if k := event.KindOf(name); k > 0 {
			r.events |= 1 << k
		}
	}
	return r
}

func (r *running) name() string { return r.collector.Manifest().Name }

// start makes an instance that goes on from saved, if it can.
func (r *running) start(saved []byte) (continued bool, err error) {
	i, err := r.collector.Start()
	if err != nil {
		return false, err
	}
	if len(saved) > 0 {
		if continued, err = i.Load(saved); err != nil {
			i.Close()
			return false, err
		}
	}
	r.instance = i
	if continued {
		r.saved = saved
	}
	return continued, nil
}

func (r *running) stop() {
	if r.instance != nil {
		r.instance.Close()
		r.instance = nil
	}
}

// observe hands over those of records that the collector reads, by way of
// scratch, which it returns.
func (r *running) observe(records, scratch []byte) ([]byte, error) {
	if r.instance == nil {
		return scratch, nil
	}
	scratch = scratch[:0]
	count := 0
	for rest := records; ; {
		rec, next, ok, err := event.Next(rest)
		if err != nil {
			panic("telemetry: the ring holds what is not a record")
		}
		if !ok {
			break
		}
		if rec.Kind < 64 && r.events&(1<<rec.Kind) != 0 {
			scratch = append(scratch, rest[:len(rest)-len(next)]...)
			count++
		}
		rest = next
	}
	if count == 0 {
		return scratch, nil
	}
	taken, err := r.instance.Observe(scratch, count)
	r.given += int64(count)
	r.refused += int64(count - taken)
	return scratch, err
}

// flush returns what the collector says of the window so far. Asked twice it
// must say the same.
func (r *running) flush() ([]byte, error) {
	first, err := r.instance.Flush(false, nil)
	if err != nil {
		return nil, err
	}
	again, err := r.instance.Flush(false, nil)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(first, again) {
		return nil, errUnstable
	}
	return first, nil
}

var errUnstable = errors.New(abi.FuncFlush + " answers otherwise when it is asked again")

// strike counts a bad window or a fault; true where it was one too many.
func (r *running) strike(why string) (off bool) {
	if r.strikes++; r.strikes < maxStrikes {
		return false
	}
	r.off = fmt.Sprintf("after %d bad windows or faults on end, the last: %s", r.strikes, why)
	r.stop()
	return true
}
