package bleveindex

import (
	"cmp"
	"slices"
	"strings"
)

// Oldest returns the ids of a page of docs, which are sorted, in the order of their Seq.
func (v *View) Oldest(docs []uint32, offset, limit int) ([]string, error) {
	if offset >= len(docs) || limit == 0 {
		return nil, nil
	}
	type numbered struct {
		seq float64
		doc uint32
	}
	all := make([]numbered, len(docs))
	err := v.FirstNumbers(FieldSeq, docs, func(i int, seq, _ float64) { all[i] = numbered{seq, docs[i]} })
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b numbered) int { return cmp.Compare(a.seq, b.seq) })
	var ids []string
	for _, n := range all[offset : min(len(all)-offset, limit)+offset] {
		id, err := v.ID(n.doc)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// A SortKey is what a document is sorted by: numbers come before texts, and
// what has neither comes last, in either direction.
type SortKey struct {
	Kind   uint8 // 0 number, 1 text, 2 none
	Number float64
	Text   string
}

func (a *SortKey) Compare(b *SortKey, descending bool) int {
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	c := 0
	switch {
	case a.Kind == 1:
		c = strings.Compare(a.Text, b.Text)
	case a.Number < b.Number:
		c = -1
	case a.Number > b.Number:
		c = 1
	}
	if descending {
		return -c
	}
	return c
}

// SortKeys returns the keys of docs, which are sorted, for a field: of several
// values the one that comes first.
func (v *View) SortKeys(field string, docs []uint32, descending bool) ([]SortKey, error) {
	keys := make([]SortKey, len(docs))
	for i := range keys {
		keys[i].Kind = 2
	}
	err := v.FirstNumbers(fieldNumber+field, docs, func(i int, first, last float64) {
		if descending {
			first = last
		}
		keys[i] = SortKey{Number: first}
	})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(keys, func(k SortKey) bool { return k.Kind == 2 }) {
		return keys, nil
	}
	err = v.eachPart(docs, func(seg *Segment, from int, part []uint32) error {
		c, err := v.TextColumn(seg, FieldText+field)
		if err != nil {
			return err
		}
		for i, d := range part {
			k, texts := &keys[from+i], c.Of(d-seg.First)
			if k.Kind != 2 || len(texts) == 0 {
				continue
			}
			n := texts[0]
			if descending {
				n = texts[len(texts)-1]
			}
			*k = SortKey{Kind: 1, Text: c.Keys[n]}
		}
		return nil
	})
	return keys, err
}
