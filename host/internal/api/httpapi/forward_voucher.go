package httpapi

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

// A voucher is what a node sends with a request of somebody whose rights it has checked, in
// place of the key: no key leaves the node that a client gave it to. It is of one method, URL
// and kind of body, and of one term, in which the receiver has to lead; it is taken once. In the
// header it is
//
//	<seconds of Unix time> <term> <uid of the key, or * for the master key> <origin> <code>
type voucher struct {
	at     int64
	term   uint64
	key    string // uid; empty: the master key
	origin string // drawn at random: by it the task of the request is found
	code   string
}

// voucherAge is how old one may be, or how far ahead: clocks of machines differ.
const voucherAge = 2 * time.Minute

// rootKey stands for the master key.
const rootKey = "*"

func (v *voucher) String() string {
	key := v.key
	if key == "" {
		key = rootKey
	}
	return fmt.Sprintf("%d %d %s %s %s", v.at, v.term, key, v.origin, v.code)
}

// signedParts is what its code is of.
func (v *voucher) signedParts(c *fiber.Ctx) string {
	return fmt.Sprintf("%d\n%d\n%s\n%s\n%s\n%s\n%s\n%s", v.at, v.term, v.key, v.origin, c.Method(), c.OriginalURL(), c.Get(fiber.HeaderContentType), c.Get(fiber.HeaderContentEncoding))
}

func parseVoucher(header string) (v voucher, ok bool) {
	fields := strings.Split(header, " ")
	if len(fields) != 5 {
		return v, false
	}
	at, err1 := strconv.ParseInt(fields[0], 10, 64)
	term, err2 := strconv.ParseUint(fields[1], 10, 64)
	v = voucher{at, term, strings.Clone(fields[2]), strings.Clone(fields[3]), strings.Clone(fields[4])}
	if v.key == rootKey {
		v.key = ""
	}
	return v, err1 == nil && err2 == nil
}

// newVoucher returns the voucher of a request of caller's that goes to the leader of term. It has
// no code where the nodes may be of a build that wants the caller's own key.
func (s *Server) newVoucher(r *call, term uint64) voucher {
	v := voucher{at: s.Now().Unix(), term: term, key: r.Caller.Key(), origin: rand.Text()}
	v.code = s.Cluster.Vouch(v.signedParts(r.Ctx))
	return v
}

// origins remembers vouchers for as long as they could be taken: for twice that at most.
type origins struct {
	mu          sync.Mutex
	since       time.Time
	now, before map[string]struct{}
}

// takeOrigin reports whether origin was not taken yet.
func (o *origins) takeOrigin(origin string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Sub(o.since).Abs() > 2*voucherAge {
		o.before, o.now, o.since = o.now, map[string]struct{}{}, now
	}
	_, taken := o.now[origin]
	_, before := o.before[origin]
	o.now[origin] = struct{}{}
	return !taken && !before
}

// authenticate returns who sent c: by the header of the client, or by the voucher of another
// node.
func (s *Server) authenticate(c *fiber.Ctx, header string) (*auth.Caller, error) {
	v, ok := parseVoucher(c.Get(headerHop))
	if !ok {
		return s.Auth.Authenticate(header)
	}
	age := s.Now().Sub(time.Unix(v.at, 0)).Abs()
	switch {
	case !s.Cluster.Vouched(v.code, v.signedParts(c)):
		return nil, apierr.Newf(apierr.InvalidAPIKey, "The header `%s` is not of a node of this cluster: leave it out.", headerHop)
	case age > voucherAge:
		return nil, apierr.Newf(apierr.InvalidAPIKey, "The header `%s` is %v old: it is used up, or the clocks of the nodes differ by that.", headerHop, age)
	case !s.vouchers.takeOrigin(v.origin, s.Now()):
		return nil, apierr.Newf(apierr.InvalidAPIKey, "The header `%s` was used before: each is of one request.", headerHop)
	}
	return s.Auth.Of(v.key)
}
