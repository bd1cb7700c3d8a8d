package text

import (
	"strings"
	"testing"
)

func TestStem(t *testing.T) {
	for _, tt := range [][3]string{
		{"", "studies", "study"},
		{"en", "retries", "retry"},
		{"", "connecting", "connection"},
		{"en", "running", "runs"},
		{"", "настройки", "настройка"},
		{"de", "versicherungen", "versicherung"},
		{"fr", "reparations", "reparation"},
		{"es", "contratos", "contrato"},
		{"it", "finestre", "finestra"},
		{"pt", "janelas", "janela"},
		{"nl", "boeken", "boek"},
		{"sv", "bilarna", "bilar"},
		{"tr", "kitaplar", "kitap"},
		{"ru", "backups", "backup"},
		{"pl", "faktury", "faktura"},
		{"ga", "siopadoireacht", "siopadoir"},
		{"hi", "किताबें", "किताब"},
		{"", "किताबों", "किताब"},
		{"ckb", "کتێبەکان", "کتێب"},
		{"pl", "настройки", "настройка"},
	} {
		s := StemmerOf(tt[0], tt[1])
		if a, b := s.Stem(tt[1]), s.Stem(tt[2]); a == "" || a != b {
			t.Errorf("%s: Stem(%s) = %q, Stem(%s) = %q, want the same", tt[0], tt[1], a, tt[2], b)
		}
		prefix := StemPrefix(tt[1], s.Stem(tt[1]))
		if prefix == "" || !strings.HasPrefix(tt[2], prefix) {
			t.Errorf("StemPrefix(%s) = %q, want a beginning of %s", tt[1], prefix, tt[2])
		}
	}
	for _, w := range []string{"go", "v2beta", "がき"} {
		if got := StemmerOf("de", w).Stem(w); got != "" {
			t.Errorf("Stem(%s) = %q, want none", w, got)
		}
	}
}
