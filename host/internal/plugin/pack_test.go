package plugin_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin"
)

// section is one of a module.
func section(id byte, body string) string { return string([]byte{id, byte(len(body))}) + body }

// TestPackRunnable refuses modules that no host can run, by the name of what is in the way.
func TestPackRunnable(t *testing.T) {
	const head = "\x00asm\x01\x00\x00\x00"
	// A module of one function () -> () with that body, that memory and that export.
	module := func(memory, export, body string) []byte {
		return []byte(head + section(1, "\x01\x60\x00\x00") + section(3, "\x01\x00") + section(5, "\x01"+memory) +
			section(7, "\x01"+string([]byte{byte(len(export))})+export+"\x00\x00") +
			section(10, "\x01"+string([]byte{byte(len(body) + 2)})+"\x00"+body+"\x0b"))
	}
	for what, tt := range map[string]struct {
		module []byte
		want   string
	}{
		"memory64":         {module("\x04\x01", "f", ""), "memory64"},
		"shared memory":    {module("\x03\x01\x01", "f", ""), "threads and atomics, which the host does not run"},
		"atomics":          {module("\x00\x01", "f", "\xfe\x03\x00"), "threads and atomics, which the host does not run"},
		"exceptions":       {module("\x00\x01", "f", "\x06\x40\x0b"), "exceptions, which the host does not run"},
		"a typed call":     {module("\x00\x01", "f", "\xd0\x70\x14\x00"), "typed function references, which the host does not run"},
		"garbage":          {module("\x00\x01", "f", "\xfb\x00\x00\x1a"), "garbage collection, which the host does not run"},
		"tail calls":       {module("\x00\x01", "f", "\x12\x00"), "it uses tail-call, which the host does not run"},
		"two memories":     {[]byte(head + section(5, "\x02\x00\x01\x00\x01")), "more than one memory, which the host does not run"},
		"memory pages":     {module("\x08\x01\x00", "f", ""), "custom page sizes, which the host does not run"},
		"a constant sum":   {[]byte(head + section(6, "\x01\x7f\x00\x41\x01\x41\x01\x6a\x0b")), "it uses extended-const, which the host does not run"},
		"relaxed SIMD":     {module("\x00\x01", "f", "\xfd\x80\x02"), "relaxed SIMD, which the host does not run"},
		"wide numbers":     {module("\x00\x01", "f", "\x42\x00\x42\x00\x42\x00\x42\x00\xfc\x13\x1a\x1a"), "wide arithmetic, which the host does not run"},
		"memory.discard":   {module("\x00\x01", "f", "\x41\x00\x41\x00\xfc\x12\x00"), "memory control, which the host does not run"},
		"continuations":    {[]byte(head + section(1, "\x01\x5d\x00")), "stack switching, which the host does not run"},
		"a group of types": {[]byte(head + section(1, "\x01\x4e\x01\x60\x00\x00")), "garbage collection, which the host does not run"},
		"invalid code":     {module("\x00\x01", "f", "\x6a"), "the host cannot compile it"},
		"a command":        {module("\x00\x01", "_start", ""), "-buildmode=c-shared"},
		"nothing of this":  {module("\x00\x01", "f", ""), "it lacks the export"},
	} {
		if _, err := plugin.Pack(tt.module, manifest(t, nil)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Pack: %v, want %q", what, err, tt.want)
		}
	}
}
