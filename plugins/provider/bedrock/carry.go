package main

import "github.com/parley-search/parley/sdk/rawjson"

// What a model reasoned before a call must go back with the call, signed as it
// was. Decode carries it in pieces: a letter, a JSON string, a line end. t adds to
// the text, s to the signature, r to what is redacted; e ends a block.

// appendPiece appends a piece to what is carried.
func appendPiece(b []byte, kind byte, v rawjson.Value) []byte {
	b = append(b, kind)
	if v.Kind() == rawjson.String {
		b = append(b, v...)
	}
	return append(b, '\n')
}

// readBlocks returns the reasoning blocks of what was carried.
func readBlocks(carried []byte) (all []rawjson.Value) {
	var text, signature, redacted string
	for len(carried) > 0 {
		end := 0
		for end < len(carried) && carried[end] != '\n' {
			end++
		}
		line := carried[:end]
		carried = carried[min(end+1, len(carried)):]
		if len(line) == 0 {
			continue
		}
		v, _ := rawjson.Parse(line[1:])
		switch line[0] {
		case 't':
			text += v.String()
		case 's':
			signature += v.String()
		case 'r':
			redacted += v.String()
		case 'e':
			switch {
			case redacted != "":
				all = append(all, append(append(rawjson.Value(`{"redactedContent":`), rawjson.Quote(redacted)...), '}'))
			case signature != "": // what is not signed is refused
				b := append(rawjson.Value(`{"reasoningText":{"text":`), rawjson.Quote(text)...)
				all = append(all, append(append(append(b, `,"signature":`...), rawjson.Quote(signature)...), "}}"...))
			}
			text, signature, redacted = "", "", ""
		}
	}
	return all
}
