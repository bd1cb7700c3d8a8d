package reader_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// A drawn is a text that a page has at a place, from the left and from below.
type drawn struct {
	x, y int
	text string
}

// Sizes of drawn text: that of Courier, whose letters are all as wide.
const (
	fontSize  = 10
	charWidth = 6
	pitch     = 12
)

// A drawnPage is a page with texts in the order of the list. Matrix turns each of them, in the syntax of the format, and
// entries are more entries of the page.
type drawnPage struct {
	how             string
	list            []drawn
	matrix, entries string
	want            []string // its words as they are read
}

// pdfDrawn returns a PDF file of pages.
func pdfDrawn(pages []drawnPage) []byte {
	const cmap = "/CIDInit/ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def 1 begincodespacerange <00> <ff> endcodespacerange 2 beginbfrange <20> <7e> <0020> <80> <9a> <05d0> endbfrange endcmap end end"
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "",
		"<</Type/Font/Subtype/Type1/BaseFont/Courier/FirstChar 32/LastChar 154/Widths[" + strings.Repeat("600 ", 0x9a-0x20+1) + "]/ToUnicode 4 0 R>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(cmap), cmap),
	}
	kids := ""
	for _, p := range pages {
		var b strings.Builder
		b.WriteString("BT /F1 10 Tf\n")
		for _, d := range p.list {
			var hex strings.Builder
			for _, r := range d.text {
				if r >= 0x5d0 { // Hebrew, by the map of the font
					r = r - 0x5d0 + 0x80
				}
				fmt.Fprintf(&hex, "%02x", r)
			}
			fmt.Fprintf(&b, "%s %d %d Tm <%s> Tj\n", p.matrix, d.x, d.y, hex.String())
		}
		b.WriteString("ET")
		kids += fmt.Sprintf("%d 0 R ", len(objects)+1)
		objects = append(objects, fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 792 792]/Contents %d 0 R/Resources<</Font<</F1 3 0 R>>>>%s>>", len(objects)+2, p.entries),
			fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", b.Len(), b.String()))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids, len(pages))
	return pdfOfObjects(objects...)
}

// A prose makes text of sentences whose words are all different.
type prose struct {
	r *rand.Rand
	n int
}

// lines are about n lines of text of at most width characters, of which the last one may be shorter.
func (p *prose) lines(n, width int) (lines []string) {
	line := ""
	for begin := true; ; {
		p.n++
		word := strings.Repeat(string(rune('a'+p.r.IntN(26))), p.r.IntN(7)) + "q" // and its number in letters
		for n := p.n; n > 0; n /= 25 {
			word += string(rune('a' + n%25))
		}
		if begin {
			word = "A" + word
		}
		begin = p.r.IntN(9) == 0
		if begin {
			word += "."
		}
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) <= width:
			line += " " + word
		default:
			if lines = append(lines, line); len(lines) == n {
				return lines
			}
			line = word
		}
	}
}

// at draws lines below each other.
func at(x, y int, lines []string) (list []drawn) {
	for i, l := range lines {
		list = append(list, drawn{x, y - i*pitch, l})
	}
	return list
}

// byRows has texts in the order of their rows, as programs draw them that go through the page.
func byRows(list []drawn) []drawn {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b drawn) int { return cmp.Or(b.y-a.y, a.x-b.x) })
	return list
}

// wordsInOrder are the words of texts.
func wordsInOrder(list []drawn) (words []string) {
	for _, d := range list {
		words = append(words, strings.Fields(d.text)...)
	}
	return words
}

// layouts are pages as they are read, made at random.
var layouts = map[string]func(p *prose) []drawn{
	"two columns": func(p *prose) []drawn {
		return slices.Concat(at(60, 700, p.lines(20, 38)), at(310, 700, p.lines(17, 38)))
	},
	"two short columns": func(p *prose) []drawn {
		return slices.Concat(at(60, 700, p.lines(4, 30)), at(310, 700, p.lines(4, 30)))
	},
	"three columns": func(p *prose) []drawn {
		return slices.Concat(at(40, 700, p.lines(22, 27)), at(220, 700, p.lines(22, 27)), at(400, 700, p.lines(9, 27)))
	},
	"four columns": func(p *prose) []drawn {
		return slices.Concat(at(30, 700, p.lines(22, 20)), at(172, 700, p.lines(22, 20)), at(314, 700, p.lines(22, 20)), at(456, 700, p.lines(22, 20)))
	},
	"a narrow gutter": func(p *prose) []drawn {
		return slices.Concat(at(60, 700, p.lines(20, 38)), at(60+38*charWidth+14, 700, p.lines(20, 38)))
	},
	"lines that are not beside each other": func(p *prose) []drawn {
		return slices.Concat(at(60, 700, p.lines(20, 38)), at(310, 695, p.lines(17, 38)))
	},
	"a heading over both": func(p *prose) []drawn {
		return slices.Concat([]drawn{{180, 740, "The title of all this text and more"}}, at(60, 700, p.lines(20, 38)), at(310, 700, p.lines(17, 38)))
	},
	"text between columns": func(p *prose) []drawn {
		return slices.Concat(
			at(60, 760, p.lines(3, 80)), at(60, 700, p.lines(12, 38)), at(310, 700, p.lines(12, 38)),
			at(60, 530, p.lines(4, 80)), at(60, 460, p.lines(12, 38)), at(310, 460, p.lines(10, 38)),
		)
	},
	"a figure between": func(p *prose) []drawn {
		return slices.Concat(
			at(60, 700, p.lines(12, 38)), at(310, 700, p.lines(12, 38)), at(150, 400, []string{"Figure 7: what the picture above this one shows"}),
			at(60, 360, p.lines(12, 38)), at(310, 360, p.lines(10, 38)),
		)
	},
	"heads and feet": func(p *prose) []drawn {
		return slices.Concat([]drawn{{60, 760, "Journal of Tides"}, {500, 760, "page7"}}, at(60, 700, p.lines(30, 38)), at(310, 700, p.lines(30, 38)), []drawn{{60, 40, "draft"}, {500, 40, "of9"}})
	},
	"footnotes": func(p *prose) []drawn {
		return slices.Concat(at(60, 700, p.lines(20, 38)), at(60, 430, p.lines(3, 38)), at(310, 700, p.lines(20, 38)), at(310, 430, p.lines(2, 38)))
	},
	"a column that is shorter": func(p *prose) []drawn {
		return slices.Concat(at(60, 700, p.lines(30, 38)), at(310, 700, p.lines(5, 38)))
	},
	"a box beside the text": func(p *prose) []drawn {
		return slices.Concat(at(60, 740, p.lines(6, 80)), at(60, 740-6*pitch, p.lines(12, 50)), at(400, 740-7*pitch, []string{"Key facts", "Founded 1920", "Staff 40", "Office Bern", "Ships 7"}), at(60, 740-19*pitch, p.lines(6, 80)))
	},
	"two columns, then three": func(p *prose) []drawn {
		return slices.Concat(at(60, 740, p.lines(12, 38)), at(310, 740, p.lines(12, 38)), at(40, 540, p.lines(12, 27)), at(220, 540, p.lines(12, 27)), at(400, 540, p.lines(12, 27)))
	},
	"one column": func(p *prose) []drawn { return at(60, 740, p.lines(40, 80)) },
	"a table": func(p *prose) (list []drawn) {
		for r := range 12 {
			for c := range 3 {
				list = append(list, drawn{72 + c*150, 700 - r*18, fmt.Sprintf("Cell%dx%d %s", r, c, strings.Repeat("ab ", p.r.IntN(4)))})
			}
		}
		return list
	},
	"a table of numbers": func(p *prose) (list []drawn) {
		for r := range 30 {
			list = append(list, drawn{72, 700 - r*pitch, fmt.Sprintf("Place%d in the north", r)})
			for c := range 4 {
				list = append(list, drawn{260 + c*80, 700 - r*pitch, fmt.Sprintf("%d%d%d.00", 10+r, c, p.r.IntN(10))})
			}
		}
		return list
	},
	"a table of options": func(p *prose) (list []drawn) {
		y := 700
		for r := range 8 {
			list = append(list, drawn{60, y, fmt.Sprintf("max_size_%d", r)})
			text := at(200, y, p.lines(2+p.r.IntN(3), 50))
			list = append(list, text...)
			y = text[len(text)-1].y - 18
		}
		return list
	},
	"cells of several lines": func(p *prose) (list []drawn) {
		for r := range 5 {
			list = append(list, at(60, 700-r*70, p.lines(2+p.r.IntN(2), 38))...)
			list = append(list, at(310, 700-r*70, p.lines(4, 38))...)
		}
		return list
	},
	"a table of two rows": func(p *prose) []drawn {
		return slices.Concat(at(60, 700, p.lines(5, 38)), at(310, 700, p.lines(2, 38)), at(60, 620, p.lines(3, 38)), at(310, 620, p.lines(5, 38)))
	},
	"a table of three rows": func(p *prose) []drawn {
		return slices.Concat(at(60, 700, p.lines(2, 38)), at(310, 700, p.lines(4, 38)), at(60, 630, p.lines(3, 38)), at(310, 630, p.lines(5, 38)), at(60, 550, p.lines(4, 38)), at(310, 550, p.lines(4, 38)))
	},
	"columns that a figure cuts soon": func(p *prose) []drawn {
		return slices.Concat(at(60, 700, p.lines(5, 38)), at(60, 500, p.lines(6, 38)), at(310, 700, p.lines(5, 38)), at(310, 500, p.lines(4, 38)))
	},
	"contents": func(*prose) (list []drawn) {
		for r := range 20 {
			list = append(list, drawn{60, 700 - r*pitch, fmt.Sprintf("%d.1", r)}, drawn{90, 700 - r*pitch, fmt.Sprintf("The chapter about thing %d", r)}, drawn{500, 700 - r*pitch, fmt.Sprintf("p%d", r*7)})
		}
		return list
	},
	"numbered items": func(p *prose) (list []drawn) {
		y := 700
		for r := range 10 {
			list = append(list, drawn{60, y, fmt.Sprintf("(%d)", r)})
			text := at(90, y, p.lines(3, 70))
			list = append(list, text...)
			y = text[len(text)-1].y - pitch
		}
		return list
	},
}

// drawnByRows are layouts that are known even where they are drawn a row at a time. A table whose cells have several lines
// is read by lines then.
func drawnByRows(name string) bool { return name != "cells of several lines" }

// TestReadPDFColumns draws pages at random, by columns and by rows, upright and turned, and wants their words in the order
// in which they are read.
func TestReadPDFColumns(t *testing.T) {
	seeds := uint64(1)
	if os.Getenv("LONG") != "" {
		seeds = 2
	}
	var pages []drawnPage
	for _, name := range slices.Sorted(maps.Keys(layouts)) {
		for seed := range seeds {
			page := layouts[name](&prose{r: rand.New(rand.NewPCG(seed, 3))})
			var turned, down []drawn
			for _, d := range byRows(page) {
				turned = append(turned, drawn{792 - d.y, d.x, d.text})
				down = append(down, drawn{d.y, 612 - d.x, d.text})
			}
			how, want := fmt.Sprintf("%s, seed %d, drawn ", name, seed), wordsInOrder(page)
			pages = append(pages, drawnPage{how + "as it is read", page, "1 0 0 1", "", want})
			if drawnByRows(name) {
				pages = append(pages, drawnPage{how + "by rows", byRows(page), "1 0 0 1", "", want})
			}
			if drawnByRows(name) && name != "lines that are not beside each other" { // upright, the library knows better where lines are
				pages = append(pages, drawnPage{how + "sideways on a page that is turned", turned, "0 1 -1 0", "/Rotate 90", want}, drawnPage{how + "sideways", down, "0 -1 1 0", "", want})
			}
		}
	}
	wantPages(t, pages)
}

// wantPages wants the words of pages of a PDF file in order.
func wantPages(t *testing.T, pages []drawnPage) {
	t.Helper()
	text, err := openPDF(t).Text(t.Context(), pdfDrawn(pages))
	if err != nil || len(text.Pages) != len(pages) {
		t.Fatalf("%d pages of %d, %v", len(text.Pages), len(pages), err)
	}
	for i, p := range pages {
		wantWords(t, p.how, strings.Fields(text.Pages[i].Text), p.want)
	}
}

// wantWords wants words in their order, and shows where they are others.
func wantWords(t *testing.T, of string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			part := func(list []string) []string { return list[min(len(list), max(0, i-4)):min(len(list), i+8)] }
			t.Errorf("%s: from word %d of %d\n%s\nwant\n%s", of, i, len(want), part(got), part(want))
			return
		}
	}
}

// Columns of a text that is read from right to left begin at the right.
func TestReadPDFColumnsBackwards(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var page []drawn
	for _, x := range []int{310, 60} {
		for i := range 20 {
			line := ""
			for len([]rune(line)) < 34 {
				for range 2 + r.IntN(5) {
					line += string(rune(0x5d0 + r.IntN(22)))
				}
				line += []string{" ", ", ", " ", " "}[r.IntN(4)]
			}
			line = strings.TrimSpace(line)
			page = append(page, drawn{x + 230 - charWidth*len([]rune(line)), 700 - i*pitch, line})
		}
	}
	list := byRows(page)
	for i, d := range list { // drawn from the left, the last letter first
		runes := []rune(d.text)
		slices.Reverse(runes)
		list[i].text = string(runes)
	}
	wantPages(t, []drawnPage{{"from right to left", list, "1 0 0 1", "", wordsInOrder(page)}})
}
