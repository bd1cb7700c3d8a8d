package node

import (
	"context"
	"errors"
	"time"

	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/search/index"
)

// applied takes a transaction that the database has now. It does not wait: the
// log's lock is held.
func (m *member) applied(p cluster.Position, ops []cluster.Op) {
	c := store.ChangesOf(ops)
	n := index.News{Seq: p.Seq, Indexes: c.Indexes, Docs: c.Docs}
	for _, v := range c.Vectors {
		n.Vectors = append(n.Vectors, index.ChangedVectors(v))
	}
	m.parts.Search.Tell(n)
	m.mu.Lock()
	m.news.Keys = m.news.Keys || c.Keys
	m.news.Features = m.news.Features || c.Features
	m.news.Webhooks = m.news.Webhooks || c.Webhooks
	m.news.Sealing = m.news.Sealing || c.Sealing
	m.news.Tasks, m.news.Plugins = m.news.Tasks || c.Tasks, m.news.Plugins || c.Plugins
	m.news.Workspaces = append(m.news.Workspaces, c.Workspaces...)
	m.told = p.Seq
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// takeNews has memory follow the database until ctx ends.
func (m *member) takeNews(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		}
		m.mu.Lock()
		c, told := m.news, m.told
		m.news = store.Changed{}
		m.mu.Unlock()
		if err := m.refresh(ctx, &c); err != nil && ctx.Err() == nil {
			m.Log.Error().Err(err).Msg("cannot apply a change of the cluster; trying again")
			m.mu.Lock()
			c.Workspaces = append(c.Workspaces, m.news.Workspaces...)
			c.Keys, c.Features, c.Webhooks = c.Keys || m.news.Keys, c.Features || m.news.Features, c.Webhooks || m.news.Webhooks
			c.Sealing, c.Tasks, c.Plugins = c.Sealing || m.news.Sealing, c.Tasks || m.news.Tasks, c.Plugins || m.news.Plugins
			m.news = c
			m.mu.Unlock()
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
			select {
			case m.wake <- struct{}{}:
			default:
			}
			continue
		}
		m.mu.Lock()
		m.seen = told
		close(m.done)
		m.done = make(chan struct{})
		m.mu.Unlock()
	}
}

// refresh reads again what another node changed, as c says.
func (m *member) refresh(ctx context.Context, c *store.Changed) error {
	var errs []error
	if c.Keys {
		errs = append(errs, m.parts.Keys.ReadKeys(ctx))
	}
	if c.Features {
		errs = append(errs, m.parts.Features.ReadFeatures(ctx))
	}
	if c.Webhooks {
		errs = append(errs, m.parts.Webhooks.ReadHooks(ctx))
	}
	for _, uid := range c.Workspaces {
		m.parts.Workspaces.Forget(uid)
	}
	if c.Tasks {
		m.parts.Tasks.Notify()
	}
	if c.Plugins { // compiled aside: a deleted key does not wait for that
		select {
		case m.plugs <- struct{}{}:
		default:
		}
	}
	if c.Sealing {
		if err := m.checkKey(); err != nil {
			m.Log.Error().Err(err).Msg("secrets of the cluster cannot be read here")
		}
	}
	return errors.Join(errs...)
}

// waitSeen returns once memory has what message seq changed.
func (m *member) waitSeen(ctx context.Context, seq uint64) error {
	for {
		m.mu.Lock()
		ok, done := m.seen >= min(seq, m.told), m.done
		m.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (m *member) toldSeq() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.told
}
