package wasm

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// shellMark names the custom section that tells shells of one form apart.
const shellMark = "parley.shell"

// shellOf returns the shell of module: all that an instance is made of, and in place
// of each function's body one that traps. No other shell is the same as one with that
// mark.
func shellOf(module []byte, mark string) []byte {
	out := append(make([]byte, 0, 1<<16), module[:8]...)
	for s := range sections(module) {
		if s.id != sectionCode {
			out = append(out, module[s.begin:s.end]...)
			continue
		}
		n := s.body.u32()
		code := binary.AppendUvarint(nil, uint64(n))
		for range n {
			const size, locals, unreachable, end = 3, 0, 0x00, 0x0b
			code = append(code, size, locals, unreachable, end)
		}
		out = appendSection(out, sectionCode, code)
	}
	body := append([]byte{byte(len(shellMark))}, shellMark...)
	return appendSection(out, sectionCustom, append(body, mark...))
}

func appendSection(out []byte, id byte, body []byte) []byte {
	return append(binary.AppendUvarint(append(out, id), uint64(len(body))), body...)
}

// sumCode returns a sum of what of module is run: of all but its custom sections. The
// names of functions count, which a stack trace shows.
func sumCode(module []byte) string {
	h := sha256.New()
	for s := range sections(module) {
		if s.id != sectionCustom || s.body.text() == "name" {
			h.Write(module[s.begin:s.end])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
