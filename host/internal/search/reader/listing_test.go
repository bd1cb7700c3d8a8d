package reader_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search/reader"
)

// Lists of links and tables of contents are marked, and no other lists.
func TestListings(t *testing.T) {
	long := strings.Repeat("Words of a paragraph. ", 40)
	for _, tt := range []struct {
		name, data string
		want       bool // of the first passage
	}{
		{"links.md", "# T\n\n- [Install](a.md)\n- [Configure it](b.md)\n  - [Options](c.md)\n- [Run](d.md)\n\n## Text\n\n" + long, true},
		{"items.md", "# T\n\n- Install it first\n- Then [configure](b.md) it\n- Run it\n- Look at it\n\n## Text\n\n" + long, false},
		{"few.md", "# T\n\n- [Install](a.md)\n- [Run](d.md)\n\n## Text\n\n" + long, false},
		{"book.txt", "Introduction ........ 1\nInstalling ....... 12\nRunning . . . . . . 20\nIndex ......... 31\n\n" + strings.Repeat("\n", 3), true},
		{"prose.txt", "He paused ... and went on. It was 12.\nThen ... nothing 3\nAnd so on.\nEnd.\n", false},
	} {
		_, docs, err := (&reader.Source{Name: "s"}).Read(t.Context(), &reader.Reader{}, tt.name, tt.name, []byte(tt.data))
		if err != nil || docs[0].Listing != tt.want {
			t.Errorf("%s: %v, %v; want %v of %q", tt.name, docs[0].Listing, err, tt.want, docs[0].Text)
		}
	}
}
