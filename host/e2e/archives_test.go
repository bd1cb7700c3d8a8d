package e2e

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/data/archive"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/setup/backup"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// furnish makes a house with something of everything that an archive holds.
func furnish(h *house.House) {
	h.T.Helper()
	h.AddFilms(200)
	h.Finish(h.Must("PATCH", "/indexes/films/settings", `{"filterableAttributes":["year"],"synonyms":{"ocean":["sea"]}}`))
	h.Must("PATCH", "/experimental-features", `{"network":true,"containsFilter":true,"compositeEmbedders":true,"multimodal":true}`)
	part := `{"source":"rest","url":"http://embed.example/","request":{"i":"{{fragment}}"},"response":"{{embedding}}"`
	h.Finish(h.Must("PATCH", "/indexes/pair/settings", fmt.Sprintf(`{"embedders":{"two":{"source":"composite","searchEmbedder":%[1]s,"searchFragments":{"q":{"value":"{{q}}"}}},"indexingEmbedder":%[1]s,"indexingFragments":{"d":{"value":["{{doc.x}}"]}}}}}}`, part)))
	h.Must("PATCH", "/network", `{"self":"here","remotes":{"here":{"url":"http://here.example"}}}`)
	h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"extract","apiKey":%q,"prompts":{"system":"Be brief."}}`, apiKey))
}

// content is all that a client sees of what furnish made, but for dates.
func content(h *house.House) string {
	h.T.Helper()
	var all []string
	for _, path := range []string{
		"/indexes/films/documents?limit=1000", "/indexes/films/settings", "/indexes/pair/settings", "/chats/w/settings", "/chats", "/experimental-features", "/network",
	} {
		r := h.Must("GET", path, "")
		body := r.Body
		if at := strings.Index(body, `"processingTimeMs"`); at >= 0 {
			body = body[:at]
		}
		all = append(all, body)
	}
	return strings.Join(all, "\n")
}

// makeArchive asks for a dump or a snapshot and returns its file.
func makeArchive(h *house.House, kind, dir string) string {
	h.T.Helper()
	h.Finish(h.Must("POST", "/"+kind+"s", ""))
	files, err := filepath.Glob(filepath.Join(dir, "*."+kind))
	if err != nil || len(files) != 1 {
		h.T.Fatalf("%ss in %s = %v, %v, want one", kind, dir, files, err)
	}
	return files[0]
}

// Everything is there again in another house. What was sealed opens only where
// the sealing key is the same; else it is dropped, and named.
//
//parley:option dump-dir import-dump snapshot-dir import-snapshot
func TestArchives(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	for _, kind := range []string{"dump", "snapshot"} {
		t.Run(kind, func(t *testing.T) {
			out := t.TempDir()
			flags := map[string]string{"dump-dir": out, "snapshot-dir": out, "plugin-lock": "off", "plugin-dir": filepath.Join(t.TempDir(), "p")}
			h := house.Open(t, flags, house.Shipped(t, "extract"))
			furnish(h)
			want := content(h)
			file := makeArchive(h, kind, out)
			contents, err := backup.Inspect(context.Background(), file)
			if err != nil || contents.Kind != kind || contents.Version != "test" || len(contents.Streams) < 2 {
				t.Errorf("InspectArchive = %+v, %v", contents, err)
			}
			h.Close()
			key, err := os.ReadFile(filepath.Join(h.Dir, "seal.key"))
			if err != nil {
				t.Fatal(err)
			}
			uid, err := os.ReadFile(filepath.Join(h.Dir, "instance-uid"))
			if err != nil {
				t.Fatal(err)
			}
			inside := archiveText(t, file)
			if !strings.Contains(inside, "Film number199") {
				t.Error("the archive has no document")
			}
			for what, secret := range map[string]string{"API key": apiKey, "sealing key": strings.TrimSpace(string(key)), "instance's uid": strings.TrimSpace(string(uid))} {
				if secret == "" || strings.Contains(inside, secret) {
					t.Errorf("the archive holds the %s %q", what, secret)
				}
			}
			flags["import-"+kind] = file
			t.Run("with the key", func(t *testing.T) {
				// The Instance UID is of a data directory, and in no archive.
				if next := restored(t, flags, key, want); next.Hooks.Instance == h.Hooks.Instance || next.Hooks.Instance == (telemetry.UUID{}) {
					t.Errorf("the Instance UID after the import is %s, want a new one", next.Hooks.Instance)
				}
			})
			t.Run("without", func(t *testing.T) {
				masked := `"apiKey":"sk-weXXXXXX..."`
				next := restored(t, flags, nil, strings.Replace(want, masked, `"apiKey":null`, 1))
				if !hasLine(next, "sealed under another master key, and are dropped", `["apiKey of workspace w"]`) {
					t.Errorf("log = %s, want the workspace whose key is to be set again", next.Log.String())
				}
			})
		})
	}
}

// archiveText is all that an archive holds, unpacked.
func archiveText(t *testing.T, file string) string {
	t.Helper()
	var b strings.Builder
	if _, err := archive.Read(file, func(name string, r io.Reader) error {
		b.WriteString(name)
		_, err := io.Copy(&b, r)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// restored opens a house that imports what flags say, and holds what a client
// sees to want.
func restored(t *testing.T, flags map[string]string, key []byte, want string) *house.House {
	t.Helper()
	flags = maps.Clone(flags)
	flags["db-path"] = t.TempDir()
	if key != nil {
		put(t, flags["db-path"], "seal.key", key)
	}
	h := house.Open(t, flags, house.Shipped(t, "extract"))
	if !waittest.Until(func() bool { return strings.Contains(h.Call("GET", "/indexes/films/search?q=sea", "").Body, `"hits"`) }) {
		t.Fatal("the index does not answer")
	}
	got := strings.Split(content(h), "\n")
	for i, want := range strings.Split(want, "\n") {
		if got[i] != want {
			t.Errorf("after the import a client sees\n%.1000s\nwant\n%.1000s", got[i], want)
		}
	}
	// The tasks are there, all finished, and the next one has the next number.
	if r := h.Must("GET", "/tasks?statuses=enqueued,processing,failed", ""); !strings.Contains(r.Body, `"total":0`) {
		t.Errorf("tasks after the import: %s", r.Body)
	}
	h.Finish(h.Must("POST", "/indexes/films/documents", `[{"id":1000,"title":"after"}]`))
	h.Close()
	return h
}

//parley:option ignore-missing-dump ignore-dump-if-db-exists ignore-missing-snapshot ignore-snapshot-if-db-exists
func TestImportRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dump := filepath.Join(dir, "a.dump")
	text := filepath.Join(dir, "text.dump")
	if err := os.WriteFile(text, []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := house.Open(t, map[string]string{"dump-dir": filepath.Join(dir, "made")}, house.Shipped(t, "extract"))
	h.Finish(h.Must("POST", "/dumps", ""))
	made, err := filepath.Glob(filepath.Join(dir, "made", "*.dump"))
	if err != nil || len(made) != 1 || os.Rename(made[0], dump) != nil {
		t.Fatalf("dumps = %v, %v", made, err)
	}
	h.Close()
	whole, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.dump")
	if err := os.WriteFile(cut, whole[:len(whole)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{archive.Dump, archive.Snapshot} {
		if err := archive.Create(filepath.Join(dir, "newer."+kind), archive.Head{Kind: kind, Version: "9.9.9", Data: "77"}, func(*archive.Writer) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	busy := filepath.Join(dir, "busy")
	if err := os.Mkdir(busy, 0o700); err != nil {
		t.Fatal(err)
	}
	release, err := store.Lock(busy)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for name, tt := range map[string]struct {
		flags map[string]string
		want  string // in the error; empty: it opens
	}{
		"missing":             {map[string]string{"import-dump": filepath.Join(dir, "none")}, "no such file"},
		"missing, and so be":  {map[string]string{"import-dump": filepath.Join(dir, "none"), "ignore-missing-dump": "true"}, ""},
		"a text":              {map[string]string{"import-dump": text}, "not an archive"},
		"cut":                 {map[string]string{"import-dump": cut}, "cut.dump"},
		"a newer dump":        {map[string]string{"import-dump": filepath.Join(dir, "newer.dump")}, "format 77"},
		"a newer snapshot":    {map[string]string{"import-snapshot": filepath.Join(dir, "newer.snapshot")}, "use version 9.9.9, which made it"},
		"somebody at work":    {map[string]string{"import-dump": dump, "db-path": busy}, fmt.Sprintf("in use by process %d", os.Getpid())},
		"a dump for a snap":   {map[string]string{"import-snapshot": dump}, "is a dump"},
		"database there":      {map[string]string{"import-dump": dump, "db-path": h.Dir}, "has a database already"},
		"database is enough":  {map[string]string{"import-dump": dump, "db-path": h.Dir, "ignore-dump-if-db-exists": "true"}, ""},
		"snapshot is missing": {map[string]string{"import-snapshot": filepath.Join(dir, "none")}, "no such file"},
		"no number":           {map[string]string{"schedule-snapshot": "daily"}, "schedule-snapshot"},
	} {
		t.Run(name, func(t *testing.T) {
			flags := map[string]string{"http-addr": "127.0.0.1:0", "db-path": filepath.Join(t.TempDir(), "data"), "plugin-dir": t.TempDir()}
			for k, v := range tt.flags {
				flags[k] = v
			}
			c, _, err := config.Load(config.Sources{Flags: flags})
			if err == nil {
				var hub *logs.Hub
				if hub, err = logs.New(&house.LogBuffer{}, c.LogsMode, c.LogLevel); err != nil {
					t.Fatal(err)
				}
				var h *host.Host
				c.PluginCacheDir = house.CompiledModules(t)
				if h, err = host.Open(t.Context(), c, host.Options{Logs: hub}); err == nil {
					h.Close()
				}
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Open = %v, want an error with %q", err, tt.want)
			}
			if tt.want != "" && tt.flags["db-path"] == "" {
				if left, _ := filepath.Glob(filepath.Join(flags["db-path"], "*")); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			}
		})
	}
}

//parley:option schedule-snapshot
func TestScheduledSnapshots(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	h := house.Open(t, map[string]string{"schedule-snapshot": "1", "snapshot-dir": out}, house.Shipped(t, "extract"))
	file := filepath.Join(out, filepath.Base(h.Dir)+".snapshot")
	if !waittest.Until(func() bool { _, err := os.Stat(file); return err == nil }) {
		t.Fatalf("no %s", file)
	}
	if _, err := backup.Inspect(context.Background(), file); err != nil {
		t.Error(err)
	}
}

// A dump that cannot be written fails as a task, and says why.
func TestDumpFails(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	h := house.Open(t, map[string]string{"dump-dir": filepath.Join(file, "below")}, house.Shipped(t, "extract"))
	if err := os.WriteFile(file, nil, 0o600); err != nil { // in the way only now: no host starts with it
		t.Fatal(err)
	}
	h.Must("POST", "/dumps", "")
	var r house.Reply
	if !waittest.Until(func() bool {
		r = h.Must("GET", "/tasks?types=dumpCreation", "")
		return strings.Contains(r.Body, `"failed"`)
	}) || !strings.Contains(r.Body, "dump_process_failed") {
		t.Errorf("task = %s", r.Body)
	}
	if strings.Contains(r.Body, file) {
		t.Errorf("the task's error names a path of the machine: %s", r.Body)
	}
}
