package workspace

import (
	"encoding/json"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// mergeKey applies the field apiKey to w. sent says that the client gave a
// key, or took it away: the obfuscated text of the stored one, as a form sends
// it back, is neither. Were it, a client that may read settings could have the key
// sent to a base URL of their own.
func mergeKey(w *Workspace, v json.RawMessage) (sent bool, err error) {
	switch {
	case v == nil:
		return false, nil
	case rawjson.IsNull(v):
		w.APIKey, w.KeyUnreadable = secret.Text{}, false
		return true, nil
	}
	key, ok := rawjson.String(v)
	switch {
	case !ok:
		return false, jsonbody.WrongType(chaterr.InvalidChatAPIKey, "apiKey", "a string or null", v)
	case key == "":
		w.APIKey, w.KeyUnreadable = secret.Text{}, false
		return true, nil
	case !w.APIKey.IsZero() && key == secret.Obfuscate(w.APIKey), w.KeyUnreadable && key == secret.ShortestShown:
		return false, nil
	case secret.IsObfuscated(key):
		return false, apierr.Newf(chaterr.InvalidChatAPIKey,
			"`apiKey` is an obfuscated key, and not that of the stored one: send the key itself, or leave the field out to keep what is stored.")
	case len(key) > maxKey:
		return false, apierr.Newf(chaterr.InvalidChatAPIKey, "`apiKey` is longer than %d bytes.", maxKey)
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return false, apierr.Newf(chaterr.InvalidChatAPIKey, "`apiKey` holds a control character, such as a line end: it is sent in a header.")
	}
	w.APIKey, w.KeyUnreadable = secret.New(key), false
	return true, nil
}
