package main

import (
	"bytes"
	"slices"
	"strings"

	"github.com/parley-search/parley/sdk/guard"
	"github.com/parley-search/parley/sdk/match"
)

// The kinds of personal data, as placeholders name them.
const (
	kindEmail = "EMAIL"
	kindPhone = "PHONE"
	kindIBAN  = "IBAN"
	kindCard  = "CARD"
	kindIP    = "IP"
	kindID    = "ID"
	kindOwn   = "OWN" // of a pattern of one's own
)

// kinds are in the order of the manifest's notes.
var kinds = []string{kindEmail, kindPhone, kindIBAN, kindCard, kindIP, kindID, kindOwn}

const noteCount = 7

func noteOf(kind string) int { return slices.Index(kinds, kind) }

// A found is a value within a text.
type found struct {
	kind       string
	start, end int
}

// A detector is a pattern of a kind. Check, where there is one, looks at what was found
// within the text, and may return a smaller part of it.
type detector struct {
	kind    string
	pattern string
	check   func(text []byte, start, end int) (int, int, bool)
}

// gap is what may stand between the groups of a number: a space, also one that does not
// break, a point, a dash.
const gap = `[ .\x{A0}\x{2009}\x{2011}\x{2013}\x{202F}-]`

var detectors = []detector{
	{kindEmail, `\b[A-Za-z0-9!#$%&'*/=?^_{|}~.+\x{C0}-\x{24F}-]{1,64}@(?:[A-Za-z0-9\x{C0}-\x{24F}](?:[A-Za-z0-9\x{C0}-\x{24F}-]{0,61}[A-Za-z0-9\x{C0}-\x{24F}])?\.){1,5}(?:[A-Za-z]{2,24}|xn--[a-z0-9]{4,20})\b`, checkEmail},
	{kindIBAN, `(?i)\b[A-Z]{2}\d{2}(?:` + gap + `?[A-Z0-9]){11,30}\b`, checkIBAN},
	{kindCard, `\b\d(?:` + gap + `?\d){12,18}\b`, checkCard},
	{kindIP, `\b(?:\d{1,3}\.){3}\d{1,3}\b`, checkIPv4},
	{kindIP, `(?i)\b[23][0-9a-f]{3}:[0-9a-f:]{2,34}[0-9a-f]\b`, checkIPv6},
	{kindIP, `(?i)\b[23][0-9a-f]{3}:[0-9a-f:]{1,30}::`, checkIPv6},

	// National ids.
	{kindID, `\b\d{3}-\d{2}-\d{4}\b`, checkUS},
	{kindID, `\b(?:\d{8}|[XYZxyz]-?\d{7})-?[A-Za-z]\b`, checkES},
	{kindID, `\b[12]` + gap + `?\d{2}` + gap + `?(?:0[1-9]|1[0-2]|[2-9]\d)` + gap + `?\d[\dABab]` + gap + `?\d{3}` + gap + `?\d{3}` + gap + `?\d{2}\b`, checkFR},
	{kindID, `(?i)\b[A-Z]{6}[0-9LMNPQRSTUV]{2}[ABCDEHLMPRST][0-9LMNPQRSTUV]{2}[A-Z][0-9LMNPQRSTUV]{3}[A-Z]\b`, checkIT},
	{kindID, `\b\d{11}\b`, checkElevenDigits},
	{kindID, `\b\d{2} \d{3} \d{3} \d{3}\b`, checkElevenDigits},
	{kindID, `\b\d{3}\.\d{3}\.\d{3}-\d{2}\b`, checkBR},
	{kindID, `\b[1-9]\d{16}[0-9Xx]\b`, checkCN},
	{kindID, `\b(?:\d{2})?\d{6}[-+]\d{4}\b`, checkSE},

	// Phones: with the code of a country, behind a word for it, and by the habits of countries.
	{kindPhone, `(?:\+|\b00)[1-9](?:[ ./\x{A0}\x{2009}\x{2011}\x{2013}\x{202F}-]{0,2}(?:\(\d{1,4}\)|\d)){6,14}\b`, checkInternational},
	{kindPhone, phoneWords + `[.:]{0,2}\s{0,2}(?:nr\.? ?|no\.? ?)?\(?\d(?:[ ./()\x{A0}\x{2011}\x{2013}-]{0,2}\d){5,13}\b`, checkBehindWord},
	{kindPhone, `\([2-9]\d{2}\) ?[2-9]\d{2}[ .\x{2011}-]\d{4}\b`, nil},
	{kindPhone, `\b(?:1[ .-])?[2-9]\d{2}([.\x{2011}-])[2-9]\d{2}[.\x{2011}-]\d{4}\b`, checkLonely},
	{kindPhone, `\(0\d{1,5}\) ?[1-9](?:[ /-]?\d){4,8}\b`, checkLonely},
	{kindPhone, `\b0[1-9]\d{1,4} ?[/-] ?[1-9](?:[ -]?\d){4,8}\b`, checkLonely},
	{kindPhone, `\b0[1-9]\d{1,3} [1-9]\d(?:[ -]?\d){3,7}\b`, checkLonely},
	{kindPhone, `\b0[1-9] \d{4} \d{4}\b`, checkLonely},
	{kindPhone, `\b0[1-9](?:[ .\x{A0}\x{202F}-]\d{2}){4}\b`, checkLonely},
	{kindPhone, `\b[6789]\d{2}([ -]\d{3}){2}\b`, checkSpanish},
	{kindPhone, `\b[6789]\d{2}(?:[ -]\d{2}){3}\b`, checkLonely},
	{kindPhone, `\b3\d{2}[ -]\d{3}[ -]?\d{4}\b`, checkLonely},
	{kindPhone, `\(\d{2}\) ?9?\d{4}-\d{4}\b`, nil},
	{kindPhone, `\b9[1236]\d \d{3} \d{3}\b`, checkLonely},
	{kindPhone, `\b1[3-9]\d[ -]?\d{4}[ -]?\d{4}\b`, checkLonely},
	{kindPhone, `\b0\d{2,3}-[2-9]\d{6,7}\b`, checkLonely},
}

// phoneWords stand in front of a number that is a phone's.
const phoneWords = `(?i)(?:\b(?:tel|telef|telefon|telefone|teléfono|téléphone|telefono|tél|phone|mobile|mobil|mob|cell|cellulare|celular|móvil|movil|telemóvel|telemovel|portable|handy|handynummer|telefonnummer|fax|komórka|kom|numer telefonu|phone number|número de teléfono|numéro de téléphone|numero di telefono|número de telefone)|电话|手机|手机号|手机号码|电话号码|联系电话|传真)(?:\x{FF1A})?`

// finder finds all of them at once.
var finder = func() *match.Matcher {
	var patterns []string
	for _, d := range detectors {
		patterns = append(patterns, d.pattern)
	}
	return match.MustCompile(patterns...)
}()

// find returns what is to be masked of text, in its order.
func find(text []byte, s *settings) (all []found) {
	if s.own != nil {
		for from := 0; ; {
			m, _, ok := s.own.Find(text, from, false, true, nil)
			if !ok {
				break
			}
			all = append(all, found{kindOwn, m.Start, m.End})
			from = m.End
		}
	}
	var part found
	check := func(m match.Match) bool {
		d := &detectors[m.Pattern]
		if s.off[d.kind] {
			return false
		}
		part = found{d.kind, m.Start, m.End}
		if d.check == nil {
			return true
		}
		var ok bool
		part.start, part.end, ok = d.check(text, m.Start, m.End)
		return ok
	}
	own := len(all)
	for from := 0; ; {
		_, _, ok := finder.Find(text, from, false, true, check)
		if !ok {
			break
		}
		overlaps := func(f found) bool { return f.start < part.end && part.start < f.end }
		if !slices.ContainsFunc(all[:own], overlaps) {
			all = append(all, part)
		}
		from = part.end
	}
	slices.SortFunc(all, func(a, b found) int { return a.start - b.start })
	return all
}

// onlyDigits returns the digits of b.
func onlyDigits(b []byte) []byte {
	var d []byte
	for _, c := range b {
		if c >= '0' && c <= '9' {
			d = append(d, c)
		}
	}
	return d
}

// before returns the word that ends in front of text[start:], with signs, in lower case.
func before(text []byte, start int) string {
	b := bytes.TrimRight(text[max(0, start-24):start], " ")
	if i := bytes.LastIndexAny(b, " \t\n("); i >= 0 {
		b = b[i+1:]
	}
	return strings.ToLower(string(b))
}

// stands reports whether text[start:end] is a number of its own: not a part of a longer
// one with points, dashes, colons or slashes, of a path, a version or an assignment of units.
func stands(text []byte, start, end int) bool {
	if start > 0 {
		switch c := text[start-1]; c {
		case '.', '-', '/', '_', '#', '$', '=', '@', '%', '&', '+', '*', '\\', '~', '^':
			return false
		case ',':
			if start > 1 && text[start-2] >= '0' && text[start-2] <= '9' {
				return false
			}
		}
	}
	if end < len(text) {
		switch text[end] {
		case '-', '/', '_', '%', '=', '&', '+', '*', '\\', '@', '^':
			return false
		case '.', ',', ':':
			if end+1 < len(text) && (text[end+1] >= '0' && text[end+1] <= '9' || text[end] == '.' && text[end+1]|0x20 >= 'a' && text[end+1]|0x20 <= 'z') {
				return false
			}
		}
	}
	return true
}

func checkEmail(text []byte, start, end int) (int, int, bool) {
	if longer := bytes.TrimRight(text[:start], ".%+-'"); len(longer) > 0 && isWordByte(longer[len(longer)-1]) {
		return 0, 0, false // of a longer name that was refused
	}
	// A password in an address (https://user:word@host) and a quotation mark in front of a
	// name do not belong to it.
	for start < end && strings.IndexByte("!#$%&'*/=?^{|}~.+-", text[start]) >= 0 {
		start++
	}
	at := start + bytes.IndexByte(text[start:end], '@')
	local, host := text[start:at], text[at+1:end]
	if i := bytes.LastIndexAny(local, "/=?&|"); i >= 0 { // mailto:?to=…, paths
		start += i + 1
		local = text[start:at]
	}
	if len(local) == 0 || local[len(local)-1] == '.' || bytes.Contains(local, []byte("..")) {
		return 0, 0, false
	}
	word := text[bytes.LastIndexAny(text[:start], " \t\n\"'(<")+1 : start]
	if bytes.Contains(word, []byte("://")) && bytes.IndexByte(word, '?') < 0 || end < len(text) && text[end] == ':' && string(local) == "git" {
		return 0, 0, false // a login of an address, not a mailbox
	}
	top := host[bytes.LastIndexByte(host, '.')+1:]
	return start, end, !fileEnding[strings.ToLower(string(top))]
}

// fileEnding are ends of names such as icon@2x.png, which is no mailbox.
var fileEnding = map[string]bool{
	"png": true, "jpg": true, "jpeg": true, "gif": true, "svg": true, "webp": true, "js": true, "ts": true, "css": true,
	"json": true, "html": true, "service": true, "socket": true, "timer": true, "target": true, "mount": true, "md": true, "tsx": true, "jsx": true,
}

func checkIBAN(text []byte, start, end int) (int, int, bool) {
	var b []byte
	for _, c := range text[start:end] {
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
			b = append(b, c)
		}
	}
	country := strings.ToUpper(string(b[:2]))
	for i := 0; i < len(ibanLengths); i += 4 {
		if ibanLengths[i:i+2] == country {
			n := int(ibanLengths[i+2]-'0')*10 + int(ibanLengths[i+3]-'0')
			return start, end, len(b) == n && guard.Mod97(append(b[4:], b[:4]...)) == 1
		}
	}
	return 0, 0, false
}

// ibanLengths has the countries of the register of IBANs, and how many characters theirs
// have.
const ibanLengths = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27" +
	"GB22GE22GI23GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20MR27MT31" +
	"MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30"

func checkCard(text []byte, start, end int) (int, int, bool) {
	d := onlyDigits(text[start:end])
	own := stands(text, start, end) || cardNames.Contains(before(text, start)) // pan=…&cvv=…
	return start, end, own && knownCard(d) && evenGroups(text[start:end]) && guard.Luhn(d) && !allSame(d)
}

// A wordList has parts of words that say what the number behind them is.
type wordList []string

// Contains reports whether word has one of them.
func (l wordList) Contains(word string) bool {
	return slices.ContainsFunc(l, func(w string) bool { return strings.Contains(word, w) })
}

var (
	cardNames    = wordList{"pan=", "card=", "cardnumber=", "card_number=", "ccnum", "cc=", "creditcard"}
	addressNames = wordList{"ip", "host", "addr", "ping", "peer", "client", "forwarded", "remote", "server", "dns", "source", "src", "dst", "from", "curl", "ssh"}
)

func allSame(d []byte) bool { return len(bytes.Trim(d, string(d[:1]))) == 0 }

// knownCard reports whether a card may begin so and have so many digits.
func knownCard(d []byte) bool {
	n, two, four := len(d), int(d[0]-'0')*10+int(d[1]-'0'), 0
	for _, c := range d[:4] {
		four = four*10 + int(c-'0')
	}
	switch {
	case d[0] == '4':
		return n == 13 || n == 16 || n == 19
	case two >= 51 && two <= 55, four >= 2221 && four <= 2720:
		return n == 16
	case two == 34 || two == 37:
		return n == 15
	case two == 36 || two == 38 || two == 39 || four >= 3000 && four <= 3059:
		return n == 14
	case two == 35, four == 6011, two == 65, four >= 6440 && four <= 6499, two == 62:
		return n >= 16
	}
	return false
}

// evenGroups reports whether digits stand in one row, or in groups as on cards.
func evenGroups(b []byte) bool {
	var sizes []int
	n := 0
	for _, c := range append(bytes.Clone(b), ' ') {
		if c >= '0' && c <= '9' {
			n++
		} else if n > 0 {
			sizes, n = append(sizes, n), 0
		}
	}
	if len(sizes) == 1 {
		return true
	}
	if len(sizes) == 3 && sizes[0] == 4 && sizes[1] == 6 {
		return true // 4-6-5, 4-6-4
	}
	for i, size := range sizes {
		if i < len(sizes)-1 && size != 4 || size > 4 {
			return false
		}
	}
	return true
}

func checkIPv4(text []byte, start, end int) (int, int, bool) {
	if !stands(text, start, end) && !(end < len(text) && (strings.IndexByte("/-", text[end]) >= 0 || isPort(text[end:])) || start > 0 && strings.IndexByte("/@=", text[start-1]) >= 0) {
		return 0, 0, false
	}
	var o [4]int
	i, digits := 0, 0
	for _, c := range text[start:end] {
		if c == '.' {
			i, digits = i+1, 0
			continue
		}
		if digits > 0 && o[i] == 0 {
			return 0, 0, false // 01
		}
		o[i], digits = o[i]*10+int(c-'0'), digits+1
	}
	for _, n := range o {
		if n > 255 {
			return 0, 0, false
		}
	}
	// Addresses that are somebody's: not those of each machine, of each house, of many.
	switch {
	case o[0] == 0, o[0] == 10, o[0] == 127, o[0] >= 224, o[0] == 169 && o[1] == 254, o[0] == 172 && o[1]&0xf0 == 16, o[0] == 192 && o[1] == 168:
		return 0, 0, false
	case o[0] < 10 && o[1] < 30 && o[2] < 30 && o[3] < 100 && !addressNames.Contains(before(text, start)): // 1.2.3.4 is rather a version
		return 0, 0, false
	}
	switch strings.Trim(before(text, start), ".:,=\"'") {
	case "v", "version", "versión", "versione", "wersja", "versão", "release", "ver", "build", "oid", "section", "§", "kapitel", "chapter", "abschnitt":
		return 0, 0, false
	}
	return start, end, true
}

// isPort reports whether b begins with the port of an address.
func isPort(b []byte) bool {
	n := 0
	for _, c := range b[1:] {
		if c < '0' || c > '9' {
			break
		}
		n++
	}
	return b[0] == ':' && n >= 1 && n <= 5
}

func checkIPv6(text []byte, start, end int) (int, int, bool) {
	groups, size, gaps := 0, 0, 0
	b := text[start:end]
	for i, c := range b {
		if c != ':' {
			if size++; size > 4 {
				return 0, 0, false
			}
			if size == 1 {
				groups++
			}
			continue
		}
		size = 0
		if i > 0 && b[i-1] == ':' {
			gaps++
		}
	}
	if bytes.Contains(b, []byte(":::")) || end < len(text) && text[end] == ':' {
		return 0, 0, false
	}
	return start, end, gaps == 0 && groups == 8 || gaps == 1 && groups < 8 && groups > 1
}
