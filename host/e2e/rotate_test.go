package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/masterkey"
)

const (
	oldMaster = "the old master key of this house"
	newMaster = "the new master key of this house"
)

// secrets makes one of each kind that is sealed, on a house with the old master
// key, and returns what stands for them all to a client. to is where an export
// waits to go.
func secrets(h *house.House, to string) (seen string) {
	h.T.Helper()
	h.Client.Transport = bearer{h.Client.Transport, oldMaster}
	h.AddFilms(3)
	h.Must("PATCH", "/experimental-features", `{"network":true,"compositeEmbedders":true}`)
	h.Must("PATCH", "/network", fmt.Sprintf(`{"remotes":{"there":{"url":"http://there.example","searchApiKey":%q}}}`, apiKey))
	h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"extract","apiKey":%q}`, apiKey))
	embedder := fmt.Sprintf(`{"source":"rest","url":"http://embed.example","apiKey":%q,"headers":{"X-Own":%[1]q},"dimensions":2,"request":"{{text}}","response":"{{embedding}}"}`, apiKey)
	h.Finish(h.Must("PATCH", "/indexes/keyed/settings", fmt.Sprintf(`{"embedders":{"e":%s,"two":{"source":"composite","searchEmbedder":%[1]s,"indexingEmbedder":%[1]s}}}`, embedder)))
	h.Must("POST", "/export", fmt.Sprintf(`{"url":%q,"apiKey":%q}`, to, apiKey))
	h.Must("PATCH", "/indexes/late/settings", fmt.Sprintf(`{"embedders":{"e":%s}}`, embedder))
	return shown(h)
}

// shown is what a client sees of the secrets.
func shown(h *house.House) string {
	return h.Must("GET", "/network", "").Body + h.Must("GET", "/chats/w/settings", "").Body + h.Must("GET", "/indexes/keyed/settings", "").Body
}

// loadHouse is the configuration of a house on dir with a master key.
func loadHouse(t *testing.T, dir, master string) config.Config {
	t.Helper()
	c, _, err := config.Load(config.Sources{Flags: map[string]string{"db-path": dir, "master-key": master, "http-addr": "127.0.0.1:0", "plugin-dir": t.TempDir(), "plugin-cache-dir": house.CompiledModules(t)}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// refusesKey makes sure that no host opens dir with a master key.
func refusesKey(t *testing.T, dir, master string) {
	t.Helper()
	h, err := host.Open(t.Context(), loadHouse(t, dir, master), host.Options{})
	if err == nil {
		h.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "is sealed under the master key named") || strings.Contains(err.Error(), "of this house") {
		t.Errorf("Open with the key %q = %v, want a refusal that names the other key and shows none", master, err)
	}
}

// Everything that was sealed works under the new key, and nothing under the old.
//
//parley:option master-key
func TestRotateMasterKey(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 100)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Authorization")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer other.Close()
	dir := t.TempDir()
	h := house.Open(t, map[string]string{"db-path": dir, "master-key": oldMaster}, house.Shipped(t, "extract"))
	want := secrets(h, other.URL)
	h.Close()

	if _, err := masterkey.Rotate(t.Context(), loadHouse(t, dir, "yet another master key of old"), newMaster, false); err == nil || !strings.Contains(err.Error(), "sealed under the master key named") {
		t.Errorf("RotateMasterKey from a wrong key = %v", err)
	}
	r, err := masterkey.Rotate(t.Context(), loadHouse(t, dir, oldMaster), newMaster, false)
	if err != nil {
		t.Fatal(err)
	}
	sealed := strings.Join(slices.Sorted(slices.Values(r.Sealed)), ", ")
	if want := "apiKey of embedder e of index keyed, apiKey of embedder e of waiting settings of index late, " +
		"apiKey of embedder two.indexingEmbedder of index keyed, apiKey of embedder two.searchEmbedder of index keyed, apiKey of the waiting export to " + other.URL +
		", apiKey of workspace w, header X-Own of embedder e of index keyed, header X-Own of embedder e of waiting settings of index late, " +
		"header X-Own of embedder two.indexingEmbedder of index keyed, header X-Own of embedder two.searchEmbedder of index keyed, searchApiKey of remote there"; sealed != want || len(r.Dropped) > 0 || r.Before {
		t.Errorf("sealed anew: %s; dropped: %v\nwant %s", sealed, r.Dropped, want)
	}
	if len(r.APIKeys) == 0 || r.APIKeys[0].Value == "" {
		t.Errorf("API keys = %v, want those of the house with their new values", r.APIKeys)
	}
	if again, err := masterkey.Rotate(t.Context(), loadHouse(t, dir, oldMaster), newMaster, false); err != nil || !again.Before {
		t.Errorf("RotateMasterKey once more = %+v, %v; want that it was done before", again, err)
	}
	refusesKey(t, dir, oldMaster)
	refusesKey(t, dir, "")

	h = house.Open(t, map[string]string{"db-path": dir, "master-key": newMaster}, house.Shipped(t, "extract"))
	h.Dir = dir
	h.Client.Transport = bearer{h.Client.Transport, newMaster}
	if got := shown(h); got != want {
		t.Errorf("after the rotation a client sees\n%s\nwant\n%s", got, want)
	}
	for range cap(asked) {
		if len(asked) > 0 && <-asked != "Bearer "+apiKey {
			t.Error("the waiting export goes out without its key")
		}
	}
	h.Must("POST", "/tasks/cancel?types=export", "")
	settleTasks(h)
	if r := h.Must("GET", "/indexes/late/settings", ""); !strings.Contains(r.Body, `"apiKey":"sk-weXXXXXX..."`) || !strings.Contains(r.Body, `"X-Own":"sk-weXXXXXX..."`) {
		t.Errorf("settings that waited: %s", r.Body)
	}
	h.Must("DELETE", "/tasks?types=export", "")
	h.CheckSecret(apiKey, "weather")
}

// A key that is lost costs what was sealed under it, each by name.
func TestRotateLostKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := house.Open(t, map[string]string{"db-path": dir, "master-key": oldMaster}, house.Shipped(t, "extract"))
	secrets(h, "http://127.0.0.1:1")
	h.Close()
	r, err := masterkey.Rotate(t.Context(), loadHouse(t, dir, "what somebody remembers of it"), newMaster, true)
	if err != nil || len(r.Dropped) != 11 || len(r.Sealed) != 0 {
		t.Fatalf("RotateMasterKey = %+v, %v; want eleven secrets dropped", r, err)
	}
	h = house.Open(t, map[string]string{"db-path": dir, "master-key": newMaster}, house.Shipped(t, "extract"))
	h.Client.Transport = bearer{h.Client.Transport, newMaster}
	if got := shown(h); strings.Contains(got, "XXX...") || strings.Count(got, `"apiKey":null`) != 4 {
		t.Errorf("a client sees %s, want no key", got)
	}
	if !waittest.Until(func() bool { return strings.Contains(h.Must("GET", "/tasks?types=export", "").Body, "export again") }) {
		t.Error("the export without its key does not say so")
	}
}

// A house without a master key gets one: the file's key goes.
func TestRotateFromFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := house.Open(t, map[string]string{"db-path": dir}, house.Shipped(t, "extract"))
	h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"extract","apiKey":%q}`, apiKey))
	h.Close()
	if _, err := masterkey.Rotate(t.Context(), loadHouse(t, dir, ""), newMaster, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "seal.key")); !os.IsNotExist(err) {
		t.Errorf("seal.key: %v, want it gone", err)
	}
	refusesKey(t, dir, "")
	for name, tt := range map[string]struct{ dir, key string }{"short": {dir, "short"}, "the same": {dir, ""}, "no data": {t.TempDir(), newMaster}} {
		if _, err := masterkey.Rotate(t.Context(), loadHouse(t, tt.dir, ""), tt.key, false); err == nil {
			t.Errorf("%s: RotateMasterKey is fine with it", name)
		}
	}
}

// An archive of a host with another master key: its secrets come along where
// that key is given.
//
//parley:option import-dump-master-key
func TestImportUnderAnotherKey(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"dump", "snapshot"} {
		t.Run(kind, func(t *testing.T) {
			out := t.TempDir()
			h := house.Open(t, map[string]string{"master-key": oldMaster, "dump-dir": out, "snapshot-dir": out}, house.Shipped(t, "extract"))
			h.Client.Transport = bearer{h.Client.Transport, oldMaster}
			h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"extract","apiKey":%q}`, apiKey))
			file := makeArchive(h, kind, out)
			h.Close()
			flags := map[string]string{"master-key": newMaster, "import-" + kind: file, "import-dump-master-key": oldMaster, "db-path": filepath.Join(t.TempDir(), "a")}
			next := house.Open(t, flags, house.Shipped(t, "extract"))
			next.Client.Transport = bearer{next.Client.Transport, newMaster}
			if r := next.Must("GET", "/chats/w/settings", ""); !strings.Contains(r.Body, `"apiKey":"sk-weXXXXXX..."`) || !hasLine(next, "imported secrets are sealed", "apiKey of workspace w") {
				t.Errorf("settings = %s", r.Body)
			}
			next.Close()
			// From now on it is the new key's alone.
			refusesKey(t, flags["db-path"], oldMaster)
		})
	}
}
