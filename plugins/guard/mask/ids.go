package main

import (
	"bytes"
	"strings"

	"github.com/parley-search/parley/sdk/guard"
)

// weigh is the sum of the first digits of d, each times its weight.
func weigh(d []byte, weights ...int) (sum int) {
	for i, w := range weights {
		sum += int(d[i]-'0') * w
	}
	return sum
}

// isDate reports whether d are two digits of a month and two of a day.
func isDate(d []byte) bool {
	month, day := int(d[0]-'0')*10+int(d[1]-'0'), int(d[2]-'0')*10+int(d[3]-'0')
	return month >= 1 && month <= 12 && day >= 1 && day <= 31
}

// checkUS: no social security number has these groups.
func checkUS(text []byte, start, end int) (int, int, bool) {
	d := string(onlyDigits(text[start:end]))
	return start, end, stands(text, start, end) && d[:3] != "000" && d[:3] != "666" && d[0] != '9' && d[3:5] != "00" && d[5:] != "0000"
}

// checkES: DNI and NIE of Spain end with a letter, by the remainder of 23.
func checkES(text []byte, start, end int) (int, int, bool) {
	b := bytes.ToUpper(text[start:end])
	n := 0
	if b[0] >= 'X' {
		n = int(b[0] - 'X')
	}
	for _, c := range onlyDigits(b) {
		n = n*10 + int(c-'0')
	}
	return start, end, stands(text, start, end) && "TRWAGMYFPDXBNJZSQVHLCKE"[n%23] == b[len(b)-1]
}

// checkFR: the number of a person in France has the remainder of 97 at its end; 2A and 2B,
// of Corsica, count as 19 and 18.
func checkFR(text []byte, start, end int) (int, int, bool) {
	s := strings.ToUpper(string(text[start:end]))
	d := onlyDigits([]byte(strings.NewReplacer("2A", "19", "2B", "18").Replace(s)))
	if len(d) != 15 || !stands(text, start, end) {
		return 0, 0, false
	}
	return start, end, 97-guard.Mod97(d[:13]) == int(d[13]-'0')*10+int(d[14]-'0')
}

// checkIT: the codice fiscale ends with a letter by the sum of values of its places.
func checkIT(text []byte, start, end int) (int, int, bool) {
	const odd = "BAFHJNPRTVCESULDGIMOQKWZYX" // the values 1, 0, 5, 7, 9, 13, … as letters
	b := bytes.ToUpper(text[start:end])
	sum := 0
	for i, c := range b[:15] {
		v := int(c - 'A')
		if c <= '9' {
			v = int(c - '0')
		}
		if i%2 == 0 {
			sum += int(odd[v] - 'A')
		} else {
			sum += v
		}
	}
	return start, end, byte('A'+sum%26) == b[15]
}

// checkElevenDigits: a number of Poland (PESEL), of Germany's tax office or of Turkey.
func checkElevenDigits(text []byte, start, end int) (int, int, bool) {
	d := onlyDigits(text[start:end])
	if !stands(text, start, end) {
		return 0, 0, false
	}
	spaced := end-start > len(d)
	return start, end, isGermanTax(d) || !spaced && (isPESEL(d) || isTurkish(d) || isCPF(d) && strings.Contains(before(text, start), "cpf"))
}

func isPESEL(d []byte) bool {
	month := (int(d[2]-'0')*10 + int(d[3]-'0')) % 20 // 20 for each century
	date := []byte{'0' + byte(month/10), '0' + byte(month%10), d[4], d[5]}
	return isDate(date) && (weigh(d, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3)+int(d[10]-'0'))%10 == 0
}

// isGermanTax: of the first ten digits one comes twice or three times and all others at
// most once, and the last one is that of ISO 7064, modulo 11, 10.
func isGermanTax(d []byte) bool {
	if d[0] == '0' {
		return false
	}
	var counts [10]int
	for _, c := range d[:10] {
		counts[c-'0']++
	}
	repeated := 0
	for _, n := range counts {
		if n > 3 {
			return false
		}
		if n > 1 {
			repeated++
		}
	}
	if repeated != 1 {
		return false
	}
	product := 10
	for _, c := range d[:10] {
		sum := (int(c-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	return (11-product)%10 == int(d[10]-'0')
}

func isTurkish(d []byte) bool {
	if d[0] == '0' {
		return false
	}
	odd, even := weigh(d, 1, 0, 1, 0, 1, 0, 1, 0, 1), weigh(d, 0, 1, 0, 1, 0, 1, 0, 1)
	return (odd*7-even+100)%10 == int(d[9]-'0') && weigh(d, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)%10 == int(d[10]-'0')
}

// checkBR: the CPF of Brazil has two check digits.
func checkBR(text []byte, start, end int) (int, int, bool) {
	return start, end, isCPF(onlyDigits(text[start:end]))
}

func isCPF(d []byte) bool {
	first := weigh(d, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	second := weigh(d, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	return !allSame(d) && first == int(d[9]-'0') && second == int(d[10]-'0')
}

// checkCN: the number of a resident of China has a date of birth, and the check character
// of ISO 7064, modulo 11, 2.
func checkCN(text []byte, start, end int) (int, int, bool) {
	b := text[start:end]
	sum := weigh(b, 7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
	century := string(b[6:8])
	return start, end, stands(text, start, end) && (century == "19" || century == "20") && isDate(b[10:14]) && "10X98765432"[sum%11] == bytes.ToUpper(b)[17]
}

// checkSE: the personnummer of Sweden has a date of birth, and ends as cards do.
func checkSE(text []byte, start, end int) (int, int, bool) {
	d := onlyDigits(text[start:end])
	d = d[len(d)-10:]
	return start, end, stands(text, start, end) && isDate(d[2:6]) && guard.Luhn(d)
}

// checkInternational: with the code of a country a number has 8 to 15 digits.
func checkInternational(text []byte, start, end int) (int, int, bool) {
	d := onlyDigits(text[start:end])
	if text[start] == '0' {
		if end-start == len(d) { // 00 in a row of digits may be anything
			return 0, 0, false
		}
		d = d[2:]
	}
	if len(d) < 8 || len(d) > 15 || allSame(d) {
		return 0, 0, false
	}
	if text[start] == '+' {
		// In a formula or a difference a + stands behind something.
		if start > 0 && (isWordByte(text[start-1]) || strings.IndexByte(")]+=-*/", text[start-1]) >= 0) {
			return 0, 0, false
		}
		return start, end, true
	}
	return checkLonely(text, start, end)
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
}

// checkBehindWord returns the number behind a word for phones.
func checkBehindWord(text []byte, start, end int) (int, int, bool) {
	i := bytes.IndexAny(text[start:end], "(0123456789")
	d := onlyDigits(text[start+i : end])
	return start + i, end, len(d) >= 6 && !allSame(d)
}

// checkLonely: a number of a country's habits is one only where it is no part of another.
func checkLonely(text []byte, start, end int) (int, int, bool) {
	behindDigits := start > 1 && text[start-1] == ' ' && text[start-2] >= '0' && text[start-2] <= '9'
	return start, end, !behindDigits && stands(text, start, end) && !allSame(onlyDigits(text[start:end]))
}

// checkSpanish: three groups of three may be millions, too.
func checkSpanish(text []byte, start, end int) (int, int, bool) {
	if end < len(text) && bytes.HasPrefix(bytes.TrimLeft(text[end:], " "), []byte("€")) || !stands(text, start, end) {
		return 0, 0, false
	}
	// Behind a word for it that is found by phoneWords; alone it is too often an amount.
	return start, end, text[start] == '6' && text[start+3] == ' '
}
