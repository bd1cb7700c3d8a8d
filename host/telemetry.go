package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/telemetryapi"
	"github.com/parley-search/parley/host/internal/base/badgerdir"
	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/telemetry"
	"github.com/parley-search/parley/host/internal/telemetry/outbox"
)

// usage is telemetry as the host holds it.
type usage struct {
	off     string // what switched it off; empty: it is on
	uid     telemetry.UUID
	spool   *outbox.Spool
	engine  *telemetry.Engine  // nil: it is off
	stop    func()             // ends the work of engine and courier; nil: it is off
	courier *telemetry.Courier // nil: it is sent nowhere
	// inUse is the engine while it is told of changes of the plugins;
	// [Host].applying guards it.
	inUse *telemetry.Engine
}

// decide finds what switches telemetry off.
func (u *usage) decide(c config.Config) (err error) {
	if u.off = c.Telemetry.OffBy; u.off == "" {
		u.off, err = telemetry.SwitchedOff(c.DBPath)
	}
	return err
}

// openTelemetry makes telemetry work, or, if it is switched off,
// removes what there was of it: the engine is nil then. A spool that cannot be
// opened stops no host: there is no telemetry, then.
func (h *Host) openTelemetry(ctx context.Context, c config.Config, o Options, snapshot telemetry.Snapshot) (*telemetry.Engine, error) {
	if h.usage.off != "" {
		h.log.Info().Str("by", h.usage.off).Msg("telemetry is off")
		return nil, telemetry.RemoveSpool(c.DBPath)
	}
	var anew, err error
	if h.usage.uid, anew, err = telemetry.OpenUID(c.DBPath, cmp.Or(o.Hooks.Machine, sysinfo.ThisMachine()).ID); err != nil {
		h.usage.off = "an Instance UID that cannot be kept"
		h.log.Warn().Err(err).Msg("telemetry is off: its Instance UID cannot be kept")
		return nil, nil
	}
	if anew != nil {
		h.log.Warn().Err(anew).Str("instance_uid", h.usage.uid.String()).Msg("telemetry has a new Instance UID")
	}
	if h.usage.spool, err = outbox.Open(filepath.Join(c.DBPath, telemetry.SpoolDir)); err != nil {
		h.usage.off = "a spool that cannot be opened"
		h.log.Warn().Err(err).Msg("telemetry is off: its spool cannot be opened")
		return nil, nil
	}
	if damage := h.usage.spool.Damage; damage != nil {
		h.log.Warn().Err(damage).Msg("the telemetry spool is damaged: it was set aside, and a new one begun")
	}
	h.onClose("the store of telemetry", h.usage.spool.Close)
	file, err := h.telemetryFile(c)
	if err != nil {
		return nil, err
	}
	engine, err := telemetry.Open(ctx, telemetry.Options{
		Instance: h.usage.uid, Epoch: h.usage.spool.Epoch(), Spool: h.usage.spool, Snapshot: snapshot, Log: h.warn, Now: o.Pace.Now, Tick: o.Pace.Tick,
		Sealed: func(messages []telemetry.Message, _ []telemetry.CollectorValues) {
			if file == nil {
				return
			}
			if err := file.Write(messages); err != nil {
				h.warn("telemetry file not written", err)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	h.usage.engine = engine
	return engine, h.runTelemetry(ctx, c, o, engine)
}

func (h *Host) warn(message string, err error) { h.log.Warn().Err(err).Msg(message) }

// telemetryFile opens the sink that is a file, or returns nil.
func (h *Host) telemetryFile(c config.Config) (*telemetry.File, error) {
	if c.Telemetry.File == "" {
		return nil, nil
	}
	file, err := telemetry.OpenFile(c.Telemetry.File, 0)
	if err != nil {
		return nil, err
	}
	h.onClose("the file of telemetry", file.Close)
	return file, nil
}

// runTelemetry gives the engine the collectors that run, now and after each
// change of the plugins, and makes it work.
func (h *Host) runTelemetry(ctx context.Context, c config.Config, o Options, engine *telemetry.Engine) error {
	to := "nowhere: there is no --telemetry-url"
	if c.Telemetry.URL != "" {
		sender, err := upstream.NewTelemetrySender(c.Telemetry.URL, c.Telemetry.WriteKey, upstream.Options{Private: c.PrivateNetworks})
		if err != nil {
			return err
		}
		h.onClose("connections of telemetry", sender.Close)
		h.usage.courier = telemetry.NewCourier(h.usage.spool, sender, telemetry.CourierOptions{To: c.Telemetry.URL, Log: h.warn, Now: o.Pace.Now, Tick: o.Pace.Tick})
		to = c.Telemetry.URL
	}
	working, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(h.loaded)
		// What happens meanwhile waits in the engine's ring.
		select {
		case <-h.plugins.Loaded():
		case <-working.Done():
			return
		}
		h.setEngine(working, engine)
		h.tellTelemetry(to, len(engine.Status().Collectors))
		wg.Go(func() { contain.Keep(working, engine.Run, h.failed) })
	})
	if h.usage.courier != nil {
		wg.Go(func() { contain.Keep(working, h.usage.courier.Run, h.failed) })
	}
	h.usage.stop = sync.OnceFunc(func() {
		stop()
		// The engine lets go of its collectors before their modules are closed.
		h.setEngine(context.Background(), nil)
		wg.Wait()
	})
	h.onClose("telemetry", func() error {
		h.usage.stop()
		return nil
	})
	return nil
}

// counting is the engine; nil where telemetry is off, or was deleted.
func (u *usage) counting() *telemetry.Engine {
	if !u.engine.On() {
		return nil
	}
	return u.engine
}

// deleteTelemetry is [TelemetryDelete] for a host that runs: it counts nothing from
// now on.
func (h *Host) deleteTelemetry() (uid string, err error) {
	if h.usage.engine != nil {
		h.usage.engine.Retire()
		h.usage.stop()
		if err := h.usage.spool.Empty(); err != nil {
			return "", err
		}
	}
	return forgetTelemetry(h.config.DBPath, telemetry.ForgetUID)
}

// forgetTelemetry has forget remove what there is in dir, and returns the Instance
// UID that was; empty where there was none.
func forgetTelemetry(dir string, forget func(string) (telemetry.UUID, error)) (string, error) {
	u, err := forget(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return u.String(), err
}

// tellTelemetry is the notice at the launch.
func (h *Host) tellTelemetry(to string, collectors int) {
	message := "telemetry is on: anonymous figures once an hour, the first of them an hour from the first start; `parley telemetry show` prints them, --no-analytics switches them off"
	if collectors == 0 {
		message = "telemetry is on, but no collector runs: nothing is counted until one is there; `parley telemetry status` says how to get the shipped ones, --no-analytics switches telemetry off"
	}
	h.log.Info().Str("instance_uid", h.usage.uid.String()).Str("sent_to", to).Int("collectors", collectors).Msg(message)
}

// setEngine says which engine is told of changes of the plugins.
func (h *Host) setEngine(ctx context.Context, engine *telemetry.Engine) {
	h.applying.Lock()
	defer h.applying.Unlock()
	h.usage.inUse = engine
	engine.Use(ctx, h.collectors(h.plugins.Running()))
}

// useCollectors is told of each change of the plugins. applying is held.
func (h *Host) useCollectors(all []plugin.Running) {
	h.usage.inUse.Use(context.Background(), h.collectors(all))
}

// collectors lists the collectors that are in use, the program's own first: of
// each name the version in use, or the newest.
func (h *Host) collectors(all []plugin.Running) []telemetry.Collector {
	var list []telemetry.Collector
	chosen := map[string]plugin.Running{}
	for _, p := range all {
		m := p.Manifest()
		if m.Kind != abi.KindCollector || p.Retired {
			continue
		}
		had, ok := chosen[m.Name]
		if !ok || p.Wanted.Use && !had.Wanted.Use || p.Wanted.Use == had.Wanted.Use && plugin.Newer(m.Version, had.Manifest().Version) < 0 {
			chosen[m.Name] = p
		}
	}
	for _, p := range chosen {
		if c, ok := p.Plugin.(*plugin.Collector); ok {
			own := p.Wanted.From == deploy.Embedded
			// Naming a collector lets out what the lock pins, and not whatever file
			// has that name.
			sent := p.Wanted.Locked && slices.Contains(h.config.Telemetry.Collectors, p.Manifest().Name)
			list = append(list, collector{c, own, own || sent})
		}
	}
	slices.SortFunc(list, func(a, b telemetry.Collector) int {
		if x, y := a.(collector), b.(collector); x.own != y.own {
			if x.own {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Manifest().Name, b.Manifest().Name)
	})
	return list
}

// snapshot describes process and machine whenever it is called.
func (h *Host) snapshot(c config.Config, o Options, features *feature.Service, first time.Time) telemetry.Snapshot {
	m := cmp.Or(o.Hooks.Machine, sysinfo.ThisMachine())
	used := m.Used
	if used == nil {
		used = badgerdir.Use
	}
	return func(t *telemetry.Handles) (event.Launch, event.Features, event.Host) {
		where := event.Host{
			Distribution: t.Distribution(m.Distribution), KernelVersion: t.Kernel(m.Kernel), ServerProvider: t.ServerProvider(c.ServerProvider),
			Cores: event.CountOf(m.Cores), RAMSize: event.CountOf(m.RAM), DiskSize: event.CountOf(m.Disk),
			DatabaseSize: event.CountOf(sysinfo.Round(uint64(used(c.DBPath)), 1e6)), Indexes: event.CountOf(h.search.Count()),
			StartSinceDays: event.CountOf(int64(o.Pace.now().Sub(first).Hours() / 24)),
		}
		return c.Launch(t, o.Version), httpapi.FeaturesEvent(features.Now()), where
	}
}

// usageRoutes is what the API shows of telemetry beside the engine.
func (h *Host) usageRoutes(c config.Config) telemetryapi.Usage {
	u := telemetryapi.Usage{OffBy: h.usage.off, SentTo: c.Telemetry.URL, Spool: h.usage.spool, Courier: h.usage.courier, Verify: deliverToLoopback, Delete: h.deleteTelemetry, Contact: c.Telemetry.Contact, MayEnd: c.Env != config.EnvProduction}
	if u.OffBy == "" {
		u.UID = h.usage.uid.String()
	}
	return u
}

// deliverToLoopback makes one delivery to a listener of this machine, without
// the write key: clients that may ask for it need not know that.
func deliverToLoopback(ctx context.Context, port int, body []byte) (telemetry.Answer, error) {
	sender, err := upstream.NewTelemetrySender(fmt.Sprintf("http://127.0.0.1:%d/v1/batch", port), secret.Text{}, upstream.Options{Private: upstream.AnyPrivate()})
	if err != nil {
		return telemetry.Answer{}, err
	}
	answer, err := sender.Send(ctx, body)
	return answer, errors.Join(err, sender.Close())
}

// A collector is a plugin as the engine wants it.
type collector struct {
	*plugin.Collector
	own      bool // the program carries it
	outbound bool
}

func (c collector) Outbound() bool { return c.outbound }

func (c collector) Start() (telemetry.Instance, error) {
	i, err := c.Collector.Start()
	if err != nil {
		return nil, err // not a nil instance in an interface
	}
	return i, nil
}

// TelemetryDelete switches telemetry off for dir, removes what it kept there,
// and returns the Instance UID that was; empty where there was none. No host
// may run on dir.
func TelemetryDelete(dir string) (uid string, err error) {
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("delete telemetry: %w", err)
	}
	release, err := store.Lock(dir)
	if err != nil {
		return "", err
	}
	uid, err = forgetTelemetry(dir, telemetry.Forget)
	return uid, errors.Join(err, release())
}
