package search

import (
	"context"
	"errors"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/rank"
)

// JointOptions say how the hits of searches are put into one list with those of
// other searches. See package federate, which makes the list.
type JointOptions struct {
	// Distinct is an attribute whose values each hit brings along; "": none.
	Distinct string
	// Budget is what all searches of the list may spend together.
	Budget *Budget
}

// A Joint is one view of an index, open for several searches. Not safe for
// concurrent use.
type Joint struct {
	rd    *reading
	view  *bleveindex.View
	opts  JointOptions
	found *roaring.Bitmap // by all of the searches so far
}

// A Place is what orders a hit of a joint search among those of others.
type Place struct {
	Doc       uint32 // for [Joint.Leave] and [Joint.FacetsOf]
	Order     []rank.OrderStep
	Distinct  []string // the hit's values of [JointOptions.Distinct]
	Hidden    bool     // clients may not see Distinct
	ByMeaning bool
}

// SearchJointly opens an index for searches of caller and calls f, which may
// search it several times: all of them see the same documents.
func (s *Service) SearchJointly(ctx context.Context, caller *auth.Caller, indexUID string, o JointOptions, f func(*Joint) error) error {
	return s.opened(ctx, caller, indexUID, func(rd *reading) (err error) {
		v, err := rd.state.Folder.View(s.columns)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, v.Close()) }()
		return f(&Joint{rd: rd, view: v, opts: o, found: roaring.New()})
	})
}

// Search answers a query. check is given the steps of its order before it is
// run, and may refuse them. Where the searches before have spent all the time
// there is, the result is degraded and has no hits.
func (j *Joint) Search(ctx context.Context, q Query, check func(order []string) error) (*Result, error) {
	rd, b := j.rd, j.opts.Budget
	q.joint, q.Budget = &j.opts, b
	one := *rd
	if err := one.prepare(ctx, &q); err != nil {
		return nil, err
	}
	if err := check(one.plan.OrderShape(q.blank())); err != nil {
		return nil, err
	}
	if b.searched && b.finding >= one.cutoff() {
		rd.degraded = true
		return &Result{Degraded: true}, nil
	}
	b.searched = true
	res, found, err := rd.service.answerOn(ctx, &one, j.view)
	rd.leave, rd.degraded = one.leave, rd.degraded || one.degraded
	if err != nil {
		return nil, err
	}
	j.found.Or(found)
	return res, nil
}

// CheckDistinct reports whether the index can tell documents apart by an
// attribute.
func (j *Joint) CheckDistinct(attribute string) error {
	_, err := j.rd.state.Meta.Settings.Distinct(attribute)
	return err
}

// Found counts the documents that the searches so far found, each once.
func (j *Joint) Found() int { return int(j.found.GetCardinality()) }

// Leave has a document count no longer that the searches found: another hit stands for it.
func (j *Joint) Leave(doc uint32) { j.found.Remove(doc) }

// JointFacets are the values of attributes of one index.
type JointFacets struct {
	Attributes []AttributeValues
	Shown      int // values of each that the index's settings show
	Degraded   bool
}

// CountFacets counts the values of the attributes that are asked for among the
// documents that the searches so far found. Attributes are missing that were not
// counted in time.
func (j *Joint) CountFacets(ctx context.Context, asked []string) (*JointFacets, error) {
	rd, m := j.rd, j.rd.state.Meta
	attributes, err := checkFacets(m, asked, rd.rule != nil)
	if err != nil {
		return nil, err
	}
	rd.budget = j.opts.Budget
	out := &JointFacets{Shown: m.Settings.Faceting.MaxValuesPerFacet}
	err = rd.count(ctx, j.view, func() error {
		return rd.countValues(j.view, attributes, asked, j.found, func(f *AttributeValues) { out.Attributes = append(out.Attributes, *f) })
	})
	out.Degraded = rd.degraded
	return out, err
}

// FacetsOf returns what each of docs adds to the counts of the attributes that are asked
// for; less where the time is up before.
func (j *Joint) FacetsOf(ctx context.Context, asked []string, docs []uint32) ([][]AttributeValues, error) {
	rd := j.rd
	attributes, err := checkFacets(rd.state.Meta, asked, rd.rule != nil)
	if err != nil {
		return nil, err
	}
	rd.budget = j.opts.Budget
	out := make([][]AttributeValues, len(docs))
	return out, rd.count(ctx, j.view, func() error {
		for i, d := range docs {
			err := rd.countValues(j.view, attributes, asked, roaring.BitmapOf(d), func(f *AttributeValues) { out[i] = append(out[i], *f) })
			if err != nil {
				return err
			}
		}
		return nil
	})
}
