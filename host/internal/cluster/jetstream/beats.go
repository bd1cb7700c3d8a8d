package jetstream

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/cluster"
)

func (l *Log) beats() string { return "parley." + l.o.Name + ".beat" }

// Send sends a beat to the nodes of the cluster. It does not wait, and a lost one is
// not sent again.
func (l *Log) Send(b cluster.Beat) {
	data, err := json.Marshal(b)
	if err == nil {
		m := nats.NewMsg(l.beats())
		m.Data = data
		m.Header.Set(headerCode, hex.EncodeToString(l.o.Key.MAC(macBeat, data)))
		err = l.conn.PublishMsg(m)
	}
	_ = err // without a connection the others get no beat, and see that
}

// headerCode is the header of a beat's code, and macBeat and macObject are purposes.
const (
	headerCode = "Parley-Code"
	macBeat    = "beat"
	macObject  = "object"
)

// verifies reports whether code, in hexadecimal, is that of parts.
func (l *Log) verifies(code, purpose string, parts ...[]byte) bool {
	if code == "" && l.o.AcceptsUnsigned != nil && l.o.AcceptsUnsigned() {
		return true
	}
	b, err := hex.DecodeString(code)
	return err == nil && l.o.Key.Verify(b, purpose, parts...)
}

// Unverified is how many beats came that no node of the cluster sent.
func (l *Log) Unverified() uint64 { return l.unverified.Load() }

// Hear calls f with the beats of the nodes, this one too, until the log is closed. f runs
// for one beat at a time.
func (l *Log) Hear(f func(cluster.Beat)) error {
	_, err := l.conn.Subscribe(l.beats(), func(m *nats.Msg) {
		if !l.verifies(m.Header.Get(headerCode), macBeat, m.Data) {
			l.unverified.Add(1)
			return
		}
		var b cluster.Beat
		if json.Unmarshal(m.Data, &b) != nil {
			return
		}
		// This goroutine is of NATS' client, which contains no panic.
		if err := contain.Call(func() error { f(b); return nil }); err != nil {
			l.o.Event("what a node tells could not be taken", err)
		}
	})
	if err != nil {
		return fmt.Errorf("listen to the nodes of cluster %s: %w", l.o.Name, err)
	}
	return nil
}
