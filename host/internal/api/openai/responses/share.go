package responses

import (
	"container/heap"
	"container/list"
)

// A share is what is kept for an owner, for the owners of a key, or for all keys.
type share struct {
	bytes int64
	order *list.List // of *entry, as in [Store]; of an owner
	named map[string]*share
	parts parts // those named
	index int   // among the parts of the whole that it is a part of
}

func newShare() share { return share{order: list.New(), named: map[string]*share{}} }

// of returns the part called name, which it makes where it is missing.
func (s *share) of(name string) *share {
	p := s.named[name]
	if p == nil {
		p = new(newShare())
		s.named[name] = p
		heap.Push(&s.parts, p)
	}
	return p
}

// add adds bytes to s and to the parts that path names, one within the other. A part
// without any goes.
func (s *share) add(path []string, bytes int64) {
	s.bytes += bytes
	if len(path) == 0 {
		return
	}
	p := s.of(path[0])
	p.add(path[1:], bytes)
	heap.Fix(&s.parts, p.index)
	if p.bytes == 0 {
		heap.Remove(&s.parts, p.index)
		delete(s.named, path[0])
	}
}

// largest returns the part of s that has most.
func (s *share) largest() *share { return s.parts[0] }

// parts are a heap, the largest first.
type parts []*share

func (p parts) Len() int           { return len(p) }
func (p parts) Less(i, j int) bool { return p[i].bytes > p[j].bytes }
func (p parts) Swap(i, j int) {
	p[i], p[j] = p[j], p[i]
	p[i].index, p[j].index = i, j
}

func (p *parts) Push(x any) {
	s := x.(*share)
	s.index = len(*p)
	*p = append(*p, s)
}

func (p *parts) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
