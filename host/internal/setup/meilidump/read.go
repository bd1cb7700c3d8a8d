// Package meilidump takes over what a dump of Meilisearch holds: indexes with their
// settings and documents, API keys, features, workspaces of chats, remotes and
// webhooks. What cannot be taken is listed, and nothing is left in silence.
//
// A dump is read twice: once to its end for all that is small, which also shows
// whether it is whole, and once more for the documents, which come in any order.
package meilidump

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/base/logs"
)

// Bounds of a dump, which may be anybody's.
const (
	maxEntries = 1 << 20
	maxHeld    = 256 << 20 // bytes of all that is held: settings, keys, names of files
	maxSmall   = 4 << 20   // bytes of a file of other things than settings
	maxLine    = 100 << 20 // of a document, a key or a task
	perHeld    = 128       // bytes that a thing takes besides its own
	// What is unpacked: gzip packs JSON to a twentieth at best, and nothing to a
	// thousandth.
	maxUnpacked = 64 << 20
	maxRatio    = 200
)

// A Dump is what is small in a dump, and what there is of the rest.
type Dump struct {
	Version string // of the Meilisearch that made it
	Date    time.Time
	Files   []File

	indexes  map[string]*dumpedIndex // by uid
	keys     []json.RawMessage
	features map[string]bool
	chats    map[string]json.RawMessage
	network  json.RawMessage
	webhooks json.RawMessage

	finished, waiting, batches int // tasks and batches
	instance                   bool
	unknown                    []string // files that nothing is known of
}

// A File is one of a dump, with its bytes.
type File struct {
	Name  string
	Bytes int64
}

// A dumpedIndex is an index of a dump.
type dumpedIndex struct {
	primaryKey string
	settings   json.RawMessage
	documents  int
}

// Is reports whether the file is packed as dumps of Meilisearch are, and dumps
// of this program are not.
func Is(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [2]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && magic == [2]byte{0x1f, 0x8b}
}

// Read reads a dump to its end. The error says what is wrong with a file that
// is none, is of a form that is not known, or is not whole.
func Read(ctx context.Context, path string) (*Dump, error) {
	d := &Dump{indexes: map[string]*dumpedIndex{}, chats: map[string]json.RawMessage{}}
	held := int64(maxHeld)
	count := func(n int) error {
		if held -= int64(n + perHeld); held < 0 {
			return fmt.Errorf("its settings, lists and names have more than %d bytes", maxHeld)
		}
		return nil
	}
	hold := func(r io.Reader, most int64) (json.RawMessage, error) {
		b, err := io.ReadAll(io.LimitReader(r, most+1))
		switch {
		case err != nil:
		case int64(len(b)) > most:
			err = fmt.Errorf("it has more than %d bytes", most)
		case !json.Valid(b):
			err = errors.New("it is not JSON")
		default:
			err = count(len(b))
		}
		return b, err
	}
	var meta json.RawMessage
	err := walk(ctx, path, func(name string, size int64, r io.Reader) (err error) {
		if err := count(len(name)); err != nil {
			return err
		}
		d.Files = append(d.Files, File{name, size})
		switch dir, file := filepath.Split(name); {
		case name == "metadata.json":
			meta, err = hold(r, maxSmall)
		case name == "instance_uid.uuid":
			d.instance = true
		case name == "keys.jsonl":
			err = eachLine(r, func(line []byte) error {
				d.keys = append(d.keys, bytes.Clone(line))
				return count(len(line))
			})
		case name == "experimental-features.json":
			var b json.RawMessage
			if b, err = hold(r, maxSmall); err == nil {
				d.features, err = readFeatures(b)
			}
		case name == "network.json":
			d.network, err = hold(r, maxSmall)
		case name == "webhooks.json":
			d.webhooks, err = hold(r, maxSmall)
		case dir == "chat-completions-settings/" && strings.HasSuffix(file, ".json"):
			d.chats[strings.TrimSuffix(file, ".json")], err = hold(r, maxSmall)
		case name == "tasks/queue.jsonl":
			err = eachLine(r, d.countTask)
		case name == "batches/queue.jsonl":
			err = eachLine(r, func([]byte) error { d.batches++; return nil })
		case strings.HasPrefix(dir, "tasks/update_files/"): // of tasks that wait
		case strings.HasPrefix(name, "indexes/") && strings.Count(name, "/") == 2:
			err = d.readIndexFile(strings.Split(name, "/")[1], file, r, hold)
		default:
			d.unknown = append(d.unknown, name)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read dump of Meilisearch %s: %w", path, err)
	}
	if err := d.readMeta(meta); err != nil {
		return nil, fmt.Errorf("read dump of Meilisearch %s: %w", path, err)
	}
	return d, nil
}

func (d *Dump) readMeta(meta json.RawMessage) error {
	for _, f := range d.Files {
		if f.Name == "indexes/data.mdb" || strings.HasSuffix(f.Name, "/data.mdb") {
			return errors.New("it is a snapshot, whose form belongs to one version of Meilisearch: make a dump there, by POST /dumps")
		}
	}
	if meta == nil {
		return errors.New("it has no metadata.json: it is a gzip archive, but no dump of Meilisearch")
	}
	var m struct {
		DumpVersion string    `json:"dumpVersion"`
		DBVersion   string    `json:"dbVersion"`
		DumpDate    time.Time `json:"dumpDate"`
	}
	if err := json.Unmarshal(meta, &m); err != nil {
		return fmt.Errorf("metadata.json: %w", err)
	}
	if m.DumpVersion != "V6" {
		return fmt.Errorf("it is of the form %.20q, and V6 is read, which Meilisearch writes since 1.0: import it there first, and make a new dump", m.DumpVersion)
	}
	d.Version, d.Date = logs.Escape(m.DBVersion), m.DumpDate
	return nil
}

func (d *Dump) readIndexFile(uid, file string, r io.Reader, hold func(r io.Reader, most int64) (json.RawMessage, error)) (err error) {
	x := d.indexes[uid]
	if x == nil {
		x = &dumpedIndex{}
		d.indexes[uid] = x
	}
	switch file {
	case "metadata.json":
		var b json.RawMessage
		if b, err = hold(r, maxSmall); err == nil {
			var m struct {
				PrimaryKey string `json:"primaryKey"`
			}
			err = json.Unmarshal(b, &m)
			x.primaryKey = m.PrimaryKey
		}
	case "settings.json":
		x.settings, err = hold(r, maxHeld)
	case "documents.jsonl":
		err = eachLine(r, func([]byte) error { x.documents++; return nil })
	default:
		d.unknown = append(d.unknown, "indexes/"+uid+"/"+file)
	}
	return err
}

func readFeatures(b json.RawMessage) (map[string]bool, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	on := make(map[string]bool, len(all))
	for name, v := range all {
		switch string(v) {
		case "true", "false":
			on[name] = string(v) == "true"
		}
	}
	return on, nil
}

func (d *Dump) countTask(line []byte) error {
	var t struct{ Status string }
	if err := json.Unmarshal(line, &t); err != nil {
		return err
	}
	if t.Status == "enqueued" || t.Status == "processing" {
		d.waiting++
	} else {
		d.finished++
	}
	return nil
}
