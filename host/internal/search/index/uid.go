package index

import (
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// maxUID bounds the bytes of an index's uid.
const maxUID = 400

// CheckUID checks a uid that a client chose.
func CheckUID(uid string) error {
	ok := uid != "" && len(uid) <= maxUID
	for i := 0; ok && i < len(uid); i++ {
		ok = settings.NameByte(uid[i])
	}
	if !ok {
		return apierr.Newf(indexerr.InvalidIndexUID, "`%.100s` is not a valid index uid; it has 1 to %d characters of A-Z, a-z, 0-9, - and _.", uid, maxUID)
	}
	return nil
}
