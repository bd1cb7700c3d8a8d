package federate

import (
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// turnTo has r show the page that f asks for; page 0 has no hits.
func (r *Result) turnTo(f *Federation) {
	r.Paged, r.Page, r.HitsPerPage = true, 1, search.DefaultLimit
	if f.Page != nil {
		r.Page = *f.Page
	}
	if f.HitsPerPage != nil {
		r.HitsPerPage = *f.HitsPerPage
	}
	r.Offset, r.Limit = settings.MaxTotalHits, r.HitsPerPage
	if before := max(r.Page, 1) - 1; r.HitsPerPage == 0 || before <= settings.MaxTotalHits/r.HitsPerPage {
		r.Offset = before * r.HitsPerPage
	}
	if r.Page == 0 {
		r.Limit = 0
	}
}

// countPages works out the pages of all hits, where a page was asked for.
func (r *Result) countPages() {
	if r.HitsPerPage > 0 {
		r.TotalPages = (r.EstimatedTotalHits + r.HitsPerPage - 1) / r.HitsPerPage
	}
}
