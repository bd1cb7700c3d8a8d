package guard

// Luhn reports whether the digits of b have the check digit of ISO/IEC 7812 at their end,
// as numbers of cards do. What is no digit is overlooked.
func Luhn(b []byte) bool {
	sum, n := 0, 0
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < '0' || b[i] > '9' {
			continue
		}
		d := int(b[i] - '0')
		if n%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		n++
	}
	return n > 1 && sum%10 == 0
}

// Mod97 returns the remainder of b divided by 97, letters counting from 10 on as in
// ISO 7064. What is neither digit nor letter is overlooked.
func Mod97(b []byte) int {
	r := 0
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			r = (r*10 + int(c-'0')) % 97
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			r = (r*100 + int(c|0x20-'a') + 10) % 97
		}
	}
	return r
}
