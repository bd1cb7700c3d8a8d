package wasm

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
)

// makeSection returns a section of a module.
func makeSection(id byte, body ...byte) []byte {
	return appendSection(nil, id, body)
}

// A plain segment of data, at an address that takes two bytes as a signed LEB128 number.
func segment(at int, text string) []byte {
	return append([]byte{0, 0x41, byte(at&0x7f | 0x80), byte(at >> 7), 0x0b, byte(len(text))}, text...)
}

// withData returns a module of one page of memory, with the segments.
func withData(segments ...[]byte) []byte {
	return bytes.Join([][]byte{
		[]byte("\x00asm\x01\x00\x00\x00"),
		makeSection(5, 1, 0, 1),
		makeSection(7, 1, 6, 'm', 'e', 'm', 'o', 'r', 'y', 2, 0),
		makeSection(11, append([]byte{byte(len(segments))}, bytes.Join(segments, nil)...)...),
		makeSection(0, 4, 'n', 'o', 't', 'e', 'x'),
	}, nil)
}

// TestFindData holds an image to what wazero makes of the same module, and
// leaves to wazero what is not plain.
func TestFindData(t *testing.T) {
	for name, tt := range map[string]struct {
		module []byte
		found  bool
	}{
		"two":                {withData(segment(8, "one"), segment(100, "two")), true},
		"the later wins":     {withData(segment(10, "xxxxxx"), segment(8, "abcd")), true},
		"up to the end":      {withData(append([]byte{0, 0x41, 0xfc, 0xff, 0x03, 0x0b, 4}, "last"...)), true},
		"none":               {withData(), false},
		"past the end":       {withData(append([]byte{0, 0x41, 0xfd, 0xff, 0x03, 0x0b, 4}, "last"...)), false},
		"a negative address": {withData([]byte{0, 0x41, 0x7f, 0x0b, 1, 'x'}), false},
		"passive":            {withData(segment(8, "one"), []byte{1, 1, 'x'}), false},
		"of a named memory":  {withData([]byte{2, 0, 0x41, 8, 0x0b, 1, 'x'}), false},
		"at a global":        {withData([]byte{0, 0x23, 0, 0x0b, 1, 'x'}), false},
		"cut short":          {withData([]byte{0, 0x41, 8, 0x0b, 9, 'x'}), false},
		"counted":            {append(withData(segment(8, "one")), makeSection(12, 1)...), false},
	} {
		t.Run(name, func(t *testing.T) {
			begin, end, memory := findData(tt.module, pageSize)
			if (memory != nil) != tt.found {
				t.Fatalf("found %v, want %v", memory != nil, tt.found)
			}
			if !tt.found {
				if begin != end {
					t.Errorf("it would be cut from %d to %d", begin, end)
				}
				return
			}
			note := len(makeSection(0, 4, 'n', 'o', 't', 'e', 'x'))
			if wantBegin, wantEnd := len(withData())-len(makeSection(11, 0))-note, len(tt.module)-note; begin != wantBegin || end != wantEnd {
				t.Errorf("found from %d to %d, want from %d to %d", begin, end, wantBegin, wantEnd)
			}
			ctx := context.Background()
			r := wazero.NewRuntime(ctx)
			defer r.Close(ctx)
			m, err := r.Instantiate(ctx, tt.module)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := m.Memory().Read(0, pageSize)
			if got := append(bytes.Clone(memory), make([]byte, pageSize-len(memory))...); !bytes.Equal(got, want) {
				t.Error("the memory is not what wazero makes it")
			}
		})
	}
}

// TestImage lays an image from a file and from memory, twice each: what one
// instance writes is not seen by the next.
func TestImage(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcde\n"), 1000)
	for name, r := range map[string]*Runtime{"file": {dir: t.TempDir()}, "memory": {}} {
		m := r.newImage(bytes.Clone(data))
		for range 2 {
			block := reserve(pageSize)
			if err := m.lay(block); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(block[:len(data)], data) || strings.Trim(string(block[len(data):]), "\x00") != "" {
				t.Errorf("%s: the block does not begin with the data, or goes on with other than zeroes", name)
			}
			block[0] = 'X'
			release(block)
		}
		if err := m.close(); err != nil {
			t.Error(err)
		}
	}
}
