package store

import (
	"bytes"
	"encoding/binary"

	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/search/storage"
)

// A Changed says what a transaction of the log changed, as far as somebody on this
// node keeps it in memory.
type Changed struct {
	Indexes    bool // records of indexes
	Docs       []string
	Vectors    []ChangedVectors
	Workspaces []string // by uid
	Keys       bool
	Features   bool
	Webhooks   bool
	Sealing    bool
	Tasks      bool
	Plugins    bool // the lock of those that are shared
}

// ChangedVectors are vectors below docs: those of one document, or, where Gone is
// set, all of the set.
type ChangedVectors struct {
	Docs string
	storage.StoredVectors
	Gone bool
}

// ChangesOf returns what ops change.
func ChangesOf(ops []cluster.Op) (c Changed) {
	for i := range ops {
		c.add(&ops[i])
	}
	return c
}

func (c *Changed) add(o *cluster.Op) {
	if len(o.Key) < 2 {
		return
	}
	rest := o.Key[2:]
	switch string(o.Key[:2]) {
	case prefixIndex:
		c.Indexes = true
	case prefixOutbox:
		if docs, _, _ := bytes.Cut(rest, []byte("/")); o.Kind == cluster.OpSet {
			c.Docs = append(c.Docs, string(docs))
		}
	case prefixVector:
		c.addVectors(o, rest)
	case prefixWorkspace:
		c.Workspaces = append(c.Workspaces, string(rest))
	case prefixKey:
		c.Keys = true
	case prefixTask:
		c.Tasks = true
	case "j/":
		c.Plugins = c.Plugins || string(o.Key) == keySharedLock
	case prefixMeta:
		switch string(o.Key) {
		case keyFeatures:
			c.Features = true
		case keyWebhooks:
			c.Webhooks = true
		case keySealing:
			c.Sealing = true
		}
	}
}

// addVectors takes an operation below v/, whose key goes on with rest. One that
// deletes all vectors of docs is no matter: nobody searches them then.
func (c *Changed) addVectors(o *cluster.Op, rest []byte) {
	docs, at, ok := bytes.Cut(rest, []byte("/"))
	if !ok || len(at) < 5 {
		return
	}
	v := ChangedVectors{Docs: string(docs), Gone: o.Kind == cluster.OpDeletePrefix}
	v.Set, v.ID = binary.BigEndian.Uint32(at), string(at[5:])
	if o.Kind == cluster.OpSet {
		v.Bytes = bytes.Clone(o.Value)
	}
	c.Vectors = append(c.Vectors, v)
}
