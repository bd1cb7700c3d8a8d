package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// A closer closes a part of the host, which its name tells to operators.
type closer struct {
	name  string
	close func() error
}

// onClose notes what Close has to do before what was noted earlier.
func (h *Host) onClose(name string, f func() error) { h.closers = append(h.closers, closer{name, f}) }

// runInBackground runs f until what it returns is called.
func (h *Host) runInBackground(f func(context.Context)) (stop func() error) {
	return contain.Background(f, h.failed)
}

// failed is told of work in the background that panicked.
func (h *Host) failed(err error) {
	h.log.Error().Err(err).Msg("work in the background failed; it begins again")
}

// Run serves until ctx ends, lets streams under way finish within the grace
// period, and closes the host.
func (h *Host) Run(ctx context.Context) error {
	sysinfo.CollectWithinMemory()
	h.log.Info().Str("addr", h.Addr().String()).Str("db_path", h.config.DBPath).
		Bool("open", h.config.MasterKey.IsZero()).Bool("tls", h.config.TLS.Cert != "").Str("private_networks", h.config.PrivateNetworks.String()).Str("console", h.config.Console).Msg("serving")
	if h.config.Env == config.EnvProduction && h.config.Console != config.ConsoleOn {
		h.log.Info().Msg("the console is off in production: --console=on serves it at /console/")
	}
	served := make(chan error, 1)
	go func() { served <- h.server.Listen(h.listener) }()
	var err error
	select {
	case err = <-served:
	case err = <-h.unfit:
	case <-ctx.Done():
		h.log.Info().Msg("shutting down")
		h.stopLoading()
		until := time.Now().Add(h.config.ShutdownGrace)
		grace, cancel := context.WithDeadline(context.Background(), until)
		defer cancel()
		// First, and not once the streams have ended: nobody would take writes until then.
		// While it resigns and drains, this node sends writes to who leads.
		h.node.Resign(grace)
		err = h.server.Shutdown(grace)
		return errors.Join(err, h.closeUntil(until))
	}
	return errors.Join(err, h.closeUntil(time.Now().Add(h.config.ShutdownGrace)))
}

// closeLeast is how long closing may take where streams used up the grace.
const closeLeast = 5 * time.Second

// closeUntil is Close, but gives up what is not closed in time: a database whose
// disk is full or gone tries to write for ever. Nothing that was acknowledged is
// lost by that: it is written before it is said, as for a process that is killed.
func (h *Host) closeUntil(t time.Time) error {
	closed := make(chan error, 1)
	go func() { closed <- h.Close() }()
	limit := time.NewTimer(max(time.Until(t), closeLeast))
	defer limit.Stop()
	select {
	case err := <-closed:
		return err
	case <-limit.C:
	}
	part := "nothing"
	if c := h.waiting.Load(); c != nil {
		part = c.name
	}
	cause := ""
	if h.db != nil {
		cause = h.db.Complaint()
	}
	if h.usage.spool != nil {
		cause = cmp.Or(cause, h.usage.spool.Complaint())
	}
	h.log.Error().Str("waited_for", part).Str("db_path", h.config.DBPath).Str("cause", cause).
		Msg("not closed within the grace: the process ends without")
	if cause != "" {
		cause = " (" + cause + ")"
	}
	return fmt.Errorf("shut down: waited for %s longer than --shutdown-grace%s: see to the disk of %s; what was acknowledged is read back at the next start", part, cause, h.config.DBPath)
}

// Close closes whatever is open, in the reverse order of opening. It may be
// called more than once.
func (h *Host) Close() (err error) {
	h.closing.Do(func() {
		h.stopLoading()
		if h.listener != nil {
			_ = h.listener.Close() // Run may have closed it
		}
		for _, c := range slices.Backward(h.closers) {
			h.waiting.Store(&c)
			err = errors.Join(err, c.close())
		}
	})
	return err
}
