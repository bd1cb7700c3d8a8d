package reader

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// tellByLetters tells the encodings that the library for it does not know, or knows in long texts alone, by
// letters that hardly any other encoding has in such numbers; nil: it is none of them.
func tellByLetters(data []byte) (string, encoding.Encoding) {
	switch {
	case isJapanese(japanese.ShiftJIS, data):
		return "shift_jis", japanese.ShiftJIS
	case isJapanese(japanese.EUCJP, data):
		return "euc-jp", japanese.EUCJP
	case isThai(data):
		return "windows-874", charmap.Windows874
	case isBaltic(data):
		return "windows-1257", charmap.Windows1257
	}
	return "", nil
}

// isJapanese reports whether bytes are Japanese in an encoding: kana are among them, and all else beyond ASCII is
// what stands between kana. Other texts have kana by chance, but no two, and nothing else.
func isJapanese(e encoding.Encoding, data []byte) bool {
	text, err := e.NewDecoder().Bytes(data)
	if err != nil {
		return false
	}
	kana, all := 0, 0
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		switch {
		case r < utf8.RuneSelf:
			continue
		case r >= 0x3041 && r <= 0x30fe:
			kana++
		case unicode.Is(unicode.Han, r), r >= 0x3000 && r <= 0x303f, r >= 0xff01 && r <= 0xff5e:
		default:
			return false
		}
		all++
	}
	return kana >= 2 && 4*kana >= all
}

// minThai is how many bytes Thai is told by, at least.
const minThai = 20

// isThai reports whether bytes are Thai: it has few spaces, many of the letters from 0xA1 to 0xBF, which Cyrillic
// hardly has, and next to none from 0xF0 on, which the others have; and as characters of two bytes it would have
// halves of some.
func isThai(data []byte) bool {
	all, first, last, runs := 0, 0, 0, 0
	before := byte(0)
	for _, c := range data {
		switch {
		case c < utf8.RuneSelf:
		case c == 0xa0 || c >= 0xdb && c <= 0xde || c >= 0xfc, c < 0xa0 && c != 0x80 && c != 0x85 && (c < 0x91 || c > 0x97):
			return false // no character of Thai
		default:
			all++
			if before < utf8.RuneSelf {
				runs++
			}
			if c >= 0xa1 && c <= 0xbf {
				first++
			}
			if c >= 0xf0 {
				last++
			}
		}
		before = c
	}
	if all < minThai || 5*first < all || 33*last > all || all < 4*runs {
		return false
	}
	return !isTextIn(simplifiedchinese.GBK, data) && !isTextIn(traditionalchinese.Big5, data) && !isTextIn(korean.EUCKR, data)
}

// baltic are the letters beyond ASCII of Lithuanian and Latvian in Windows-1257.
const baltic = "\xc0\xc1\xc2\xc6\xc7\xc8\xcb\xcc\xcd\xce\xcf\xd0\xd2\xd8\xdb\xde\xe0\xe1\xe2\xe6\xe7\xe8\xeb\xec\xed\xee\xef\xf0\xf2\xf8\xfb\xfe"

// isBaltic reports whether bytes are Lithuanian or Latvian: no letter of another language is among them, and š and
// ž are, which where they stand for letters of Icelandic have others beside them.
func isBaltic(data []byte) bool {
	letters, both := 0, [2]int{}
	for _, c := range data {
		switch {
		case c < 0xc0:
		case !isIn(baltic, c):
			return false
		default:
			letters++
			if c|0x20 == 0xf0 {
				both[0]++
			}
			if c|0x20 == 0xfe {
				both[1]++
			}
		}
	}
	return letters >= 8 && both[0] > 0 && both[1] > 0
}

// isIn reports whether a byte is one of list.
func isIn(list string, c byte) bool {
	for i := range len(list) {
		if list[i] == c {
			return true
		}
	}
	return false
}
