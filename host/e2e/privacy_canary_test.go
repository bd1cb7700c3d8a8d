package e2e

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/fnv"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// logged are the texts that the log of a host may hold: names of its own
// directories and files, what clients call their requests, and, so that an
// operator can mend it, which embedder failed a search, where it is and of which
// index.
var logged = []string{"dir", "plugins", "dumps", "file", "requestid", "embedder", "embedhost", "other"}

// TestCanaries puts a word into every place that takes a text, and looks for
// each of them, however written, in all that telemetry keeps, shows, sends and
// logs.
func TestCanaries(t *testing.T) {
	if apart.Run(t) {
		return
	}
	if testing.Short() {
		t.Skip("it builds and compiles plugins, which takes long")
	}
	w := func(place string) string { return word("abcdehkn", place) } // none of them would be a word by itself
	if !onMachine(t, w("machine")) {
		return
	}
	t.Setenv("PARLEY_TEST_VARIABLE", w("variable"))
	file := filepath.Join(t.TempDir(), w("file")+".ndjson")
	p := newPlatform(t)
	modules := append(shippedCollectors(t), house.Shipped(t, "extract"))
	h, _, c := usedBy(t, modules, w, map[string]string{"telemetry-url": p.URL, "telemetry-file": file, "telemetry-write-key": w("writekey")}, "PARLEY_SERVER_PROVIDER="+w("hoster"))

	key := http.Header{"Authorization": {"Bearer " + w("master")}}
	shown := func() (all string) {
		for _, path := range []string{
			"/telemetry", "/telemetry/metrics", "/telemetry/messages", "/telemetry/messages?of=last", "/telemetry/messages?of=pending", "/telemetry/windows", "/telemetry/deliveries", "/telemetry/export",
			"/metrics", "/plugins",
		} {
			r := send(h, "GET", path, "", key)
			if r.Status != http.StatusOK {
				t.Errorf("GET %s: status %d %s", path, r.Status, r.Body)
			}
			for line := range strings.Lines(r.Body) {
				// The other figures of /metrics are the operator's, and name workspaces.
				if path != "/metrics" || strings.HasPrefix(line, "parley_usage_") || strings.HasPrefix(line, "parley_telemetry_") {
					all += line
				}
			}
		}
		return all
	}
	outputs := map[string]string{"what is shown of the window under way": shown()}
	c.pass(time.Hour)
	waittest.For(t, "a batch is delivered", func() bool { return strings.Contains(p.got(), `"batch"`) })
	outputs["what is shown after the window"] = shown()
	h.Close()
	outputs["what was delivered"] = p.got()
	outputs["the telemetry file"] = contents(t, file)
	outputs["the spool"] = contents(t, filepath.Join(h.Dir, "telemetry"))
	outputs["the log"] = h.Log.String()
	for name, output := range outputs {
		if len(output) < 500 {
			t.Errorf("%s is %q: want something to look through", name, output)
		}
	}
	canaries := map[string]string{}
	for _, place := range slices.Concat(people, logged, []string{"master", "writekey", "hoster", "variable", "machine"}) {
		canaries[place] = w(place)
	}
	for place, canary := range canaries {
		for form, text := range disguises(canary) {
			for name, output := range outputs {
				if name == "the log" && slices.Contains(logged, place) || name == "what was delivered" && place == "writekey" {
					continue
				}
				if strings.Contains(output, text) {
					t.Errorf("%s holds the %s, %s: %s", name, place, form, house.Around(output, text))
				}
			}
		}
	}
}

// contents joins the files at or below path.
func contents(t *testing.T, path string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		b.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// disguises are the ways in which a text might be written.
func disguises(text string) map[string]string {
	backwards := []byte(text)
	slices.Reverse(backwards)
	var percent strings.Builder
	for _, b := range []byte(text) {
		fmt.Fprintf(&percent, "%%%02X", b)
	}
	all := map[string]string{
		"as it is": text, "in capitals": strings.ToUpper(text), "backwards": string(backwards), "in a URL": percent.String(),
		"in hex": hex.EncodeToString([]byte(text)), "in capital hex": strings.ToUpper(hex.EncodeToString([]byte(text))),
	}
	for skip := range 3 {
		// What stands before it decides how it is cut into sixes of bits; the
		// signs that its neighbours share are left out.
		first, last := []int{0, 2, 3}[skip], (skip+len(text))*8/6
		padded := []byte("\x00\x00"[:skip] + text)
		all[fmt.Sprint("in base64 behind ", skip)] = base64.RawStdEncoding.EncodeToString(padded)[first:last]
		all[fmt.Sprint("in base64 of URLs behind ", skip)] = base64.RawURLEncoding.EncodeToString(padded)[first:last]
	}
	for name, h := range map[string]hash.Hash{
		"md5": md5.New(), "sha1": sha1.New(), "sha256": sha256.New(), "crc32": crc32.NewIEEE(),
		"fnv32": fnv.New32(), "fnv32a": fnv.New32a(), "fnv64": fnv.New64(), "fnv64a": fnv.New64a(), "xxhash": xxhash.New(),
	} {
		h.Write([]byte(text)) // never fails
		sum := h.Sum(nil)
		all["as "+name] = hex.EncodeToString(sum)
		if len(sum) >= 8 { // fewer bytes come about by themselves
			all["as "+name+", in bytes"] = string(sum)
		}
	}
	return all
}

// TestDisguises finds a text in what holds it.
func TestDisguises(t *testing.T) {
	const text = "a canary of some length"
	for skip := range 3 {
		whole := base64.StdEncoding.EncodeToString([]byte("before it"[:6+skip] + text + "behind it"))
		if part := disguises(text)[fmt.Sprint("in base64 behind ", skip)]; len(part) < len(text) || !strings.Contains(whole, part) {
			t.Errorf("behind %d bytes %s is not found in %s", skip, part, whole)
		}
	}
	if got := disguises("abc")["as crc32"]; got != "352441c2" {
		t.Errorf("crc32 of abc = %s, want 352441c2", got)
	}
}
