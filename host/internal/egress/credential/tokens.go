package credential

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// Bounds of what is kept of tokens.
const (
	maxTokens = 10_000
	// renewBefore is how long before its end a token is renewed, or a tenth of its
	// time, whichever is less.
	renewBefore = 5 * time.Minute
	// assumedLife is that of a token whose server does not say how long it lives.
	assumedLife = 5 * time.Minute
)

// tokens keeps the access tokens of workspaces, and asks for new ones: one
// exchange at a time for each.
type tokens struct {
	now       func() time.Time
	google    string
	limit     time.Duration
	transport http.RoundTripper

	mu   sync.Mutex
	held map[tokenKey]*heldToken
}

// A tokenKey names what a token is for.
type tokenKey struct{ workspace, plugin, auth string }

// A heldToken is a token, or the exchange for one under way.
type heldToken struct {
	of    [sha256.Size]byte // the credentials: others put it out of use at once
	done  chan struct{}     // closed once the exchange is over
	token string
	renew time.Time
	err   error
}

// get returns a token for what a says and out's workspace has set; drop forgets
// it. An exchange goes on where ctx ends first: others may wait for it.
func (t *tokens) get(ctx context.Context, a *abi.Auth, f *filled, out *outbound.Request) (token string, drop func(), err error) {
	x, err := t.newExchange(a, f)
	if err != nil {
		return "", nil, err
	}
	key := tokenKey{out.Workspace, out.Plugin, a.Name}
	h := t.find(key, x)
	select {
	case <-h.done:
	case <-ctx.Done():
		return "", nil, &outbound.Error{Kind: outbound.Broken, Message: "the answer was cancelled", Err: context.Cause(ctx)}
	}
	if h.err != nil {
		return "", nil, h.err
	}
	return h.token, func() { t.drop(key, h) }, nil
}

// find returns the token of key, whose exchange it begins where there is none
// that is good.
func (t *tokens) find(key tokenKey, x *exchange) *heldToken {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := t.held[key]; h != nil && h.of == x.of {
		select {
		case <-h.done:
			if h.err == nil && t.now().Before(h.renew) {
				return h
			}
		default:
			return h
		}
	}
	h := &heldToken{of: x.of, done: make(chan struct{})}
	t.makeRoom()
	t.held[key] = h
	go t.exchange(key, h, x)
	return h
}

// makeRoom keeps the tokens within their bound. t.mu is held.
func (t *tokens) makeRoom() {
	for key, h := range t.held {
		if len(t.held) < maxTokens {
			return
		}
		select {
		case <-h.done:
			delete(t.held, key) // any one: it costs its workspace an exchange
		default:
		}
	}
}

// exchange asks for the token of h.
func (t *tokens) exchange(key tokenKey, h *heldToken, x *exchange) {
	ctx, cancel := context.WithTimeout(context.Background(), t.limit)
	defer cancel()
	began := t.now()
	var token *oauth2.Token
	err := contain.Call(func() (err error) { token, err = x.run(ctx, t); return err })
	if err != nil {
		h.err = x.failure(ctx, err, t.now())
		t.drop(key, h)
	} else {
		h.token, h.renew = token.AccessToken, renewal(began, token)
	}
	close(h.done)
}

// renewal is when a token that was asked for at began is renewed.
func renewal(began time.Time, token *oauth2.Token) time.Time {
	life := assumedLife
	if !token.Expiry.IsZero() {
		life = max(time.Until(token.Expiry), 0) // which the library counted from the clock of the system
	}
	return began.Add(life - min(life/10, renewBefore))
}

// drop forgets h, if it is what key has.
func (t *tokens) drop(key tokenKey, h *heldToken) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held[key] == h {
		delete(t.held, key)
	}
}

// sum is the hash of all that an exchange depends on.
func sum(v any) [sha256.Size]byte {
	b, _ := json.Marshal(v) // of texts alone
	return sha256.Sum256(b)
}
