package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

// A Key is an API key, without the key itself: that is derived
// from master key and uid (see [Service.Value]), never stored.
type Key struct {
	UID         string // a UUID in lower case with hyphens
	Name        *string
	Description *string
	Actions     []Action // groups are kept as given, and hold what is added later
	Indexes     []string // patterns of index uids
	Workspaces  []string // patterns of workspace uids; nil: all
	Limits      limit.Limits
	ExpiresAt   *time.Time
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Keys keeps keys. Safe for concurrent use. See package store for the real
// one and authtest for the contract as a test.
type Keys interface {
	// Keys returns all keys, ordered by uid.
	Keys(ctx context.Context) ([]Key, error)
	// CreateKey stores k, or returns [apierr.APIKeyAlreadyExists].
	CreateKey(ctx context.Context, k Key) error
	// UpdateKey stores what change made of the key uid, in one transaction, and
	// returns it; or returns [apierr.APIKeyNotFound]. change may be called
	// more than once.
	UpdateKey(ctx context.Context, uid string, change func(*Key)) (Key, error)
	// DeleteKey forgets a key, or returns [apierr.APIKeyNotFound].
	DeleteKey(ctx context.Context, uid string) error
	// SeedKeys stores defaults the first time it is called in the life of the
	// data, all or none; later calls do nothing, so that a default that was
	// deleted stays so.
	SeedKeys(ctx context.Context, defaults []Key) error
}

// derive returns the key itself: hex of HMAC-SHA256(master, uid).
func derive(master, uid string) string {
	mac := hmac.New(sha256.New, []byte(master))
	mac.Write([]byte(uid))
	return hex.EncodeToString(mac.Sum(nil))
}

// A Draft is what a client gives for a new key.
type Draft struct {
	UID         string // "" for one of our making
	Name        *string
	Description *string
	Actions     []string
	Indexes     []string
	Workspaces  []string        // nil: all
	ExpiresAt   *string         // nil: never
	Limits      json.RawMessage // nil: none
}

// Bounds in bytes: of a name or description, of one key, and of all keys, which are held in memory.
const (
	maxText = 4 << 10
	maxKey  = 64 << 10
	maxKeys = 64 << 20
)

// Size is about how many bytes k takes.
func (k *Key) Size() int {
	n := 512
	for _, t := range []*string{k.Name, k.Description} {
		if t != nil {
			n += len(*t)
		}
	}
	for _, list := range [][]string{k.Indexes, k.Workspaces} {
		for _, t := range list {
			n += 16 + len(t)
		}
	}
	return n
}

// checkTexts refuses a name and a description that are too long. Each may be nil.
func checkTexts(name, description *string) error {
	if name != nil && len(*name) > maxText {
		return apierr.Newf(apierr.InvalidAPIKeyName, "`name` has %d bytes: it may have %d.", len(*name), maxText)
	}
	if description != nil && len(*description) > maxText {
		return apierr.Newf(apierr.InvalidAPIKeyDescription, "`description` has %d bytes: it may have %d.", len(*description), maxText)
	}
	return nil
}

// key checks d, and returns the key that it describes.
func (d *Draft) key(now time.Time) (Key, error) {
	k := Key{Name: d.Name, Description: d.Description, Indexes: d.Indexes, Workspaces: d.Workspaces, CreatedAt: now, UpdatedAt: now}
	var err error
	if k.UID, err = parseUID(d.UID); err != nil {
		return Key{}, err
	}
	if k.Actions, err = ParseActions(d.Actions); err != nil {
		return Key{}, err
	}
	if err := checkTexts(d.Name, d.Description); err != nil {
		return Key{}, err
	}
	if n := k.Size(); n > maxKey {
		return Key{}, apierr.Newf(apierr.InvalidAPIKeyIndexes, "`indexes` and `workspaces` take %d bytes: a key may have %d. Name several by a pattern, such as \"products-*\".", n, maxKey)
	}
	if err := checkPatterns(d.Indexes); err != nil {
		return Key{}, err
	}
	if err := checkWorkspaces(d.Workspaces); err != nil {
		return Key{}, err
	}
	if err := k.checkScope(); err != nil {
		return Key{}, err
	}
	if d.Limits != nil {
		if k.Limits, err = limit.MergeKey(limit.Limits{}, d.Limits); err != nil {
			return Key{}, err
		}
	}
	if d.ExpiresAt != nil {
		t, err := parseExpiry(*d.ExpiresAt, now)
		if err != nil {
			return Key{}, err
		}
		k.ExpiresAt = &t
	}
	return k, nil
}

// parseUID returns uid in its canonical form, or a new one for "".
func parseUID(uid string) (string, error) {
	if uid == "" {
		return uuid.NewString(), nil
	}
	u, err := uuid.Parse(uid)
	if err != nil || len(uid) != 36 {
		return "", apierr.Newf(apierr.InvalidAPIKeyUID, "`uid`: %.64q is not a UUID: give one such as %q, or leave the field out.", uid, "6062abda-a5aa-4414-ac91-ecd7944c0f8d")
	}
	return u.String(), nil
}

// checkScope refuses a key that is bound to some indexes or workspaces and yet may
// act on more. The group "*" is allowed and then holds no such action. It
// also refuses one that holds such a group and is given no index: that reads as
// if it could do nothing, and it could do all that concerns the host.
func (k *Key) checkScope() error {
	for _, a := range k.Actions {
		if a == All || a == AllGets {
			if len(k.Indexes) == 0 {
				return apierr.Newf(apierr.InvalidAPIKeyIndexes,
					"`indexes` is empty, and `actions` holds `%s`: write [\"*\"] for all indexes, the names of some, such as [\"products\"], or, for a key of the host alone, its actions one by one.", a)
			}
			continue
		}
		for _, t := range traits {
			if !a.holds(t) {
				continue
			}
			switch k.boundBelow(t) {
			case "indexes":
				return apierr.Newf(apierr.IndexScopedAPIKeyWithGlobalAction,
					"`actions`: `%s` concerns the whole host, and `indexes` binds this key to some: take the action away, or give `indexes` as [\"*\"].", a)
			case "workspaces":
				return apierr.Newf(apierr.InvalidAPIKeyActions,
					"`actions`: `%s` concerns the whole host, and `workspaces` binds this key to some: take the action away, or leave `workspaces` out.", a)
			}
		}
	}
	return nil
}

// spaces are the patterns of the workspaces that k is bound to; nil: it is not.
func (k *Key) spaces() []string {
	if slices.Contains(k.Workspaces, "*") {
		return nil
	}
	return k.Workspaces
}

// expiryLayouts are the forms of a time that expiresAt takes; without a zone it
// is UTC.
var expiryLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly}

func parseExpiry(s string, now time.Time) (time.Time, error) {
	for _, layout := range expiryLayouts {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if !t.After(now) {
			return time.Time{}, apierr.Newf(apierr.InvalidAPIKeyExpiresAt, "`expiresAt`: %s is past: give a time to come, or null for never.", t.UTC().Format(time.RFC3339))
		}
		return t.UTC(), nil
	}
	return time.Time{}, apierr.Newf(apierr.InvalidAPIKeyExpiresAt, "`expiresAt`: %.64q is not a time: give one such as \"2030-01-31T12:00:00Z\" or \"2030-01-31\", or null for never.", s)
}
