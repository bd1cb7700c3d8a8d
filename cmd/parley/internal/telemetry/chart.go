package telemetry

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

type (
	// A pageCard is a metric that changed: bars of a number, or strips of the
	// texts that it was.
	pageCard struct {
		Path, Meaning, From string
		Bars                *pageBars
		Strips              []pageStrip
		More                int // texts that have no strip
		Values              []pageValue
	}
	pageValue struct{ Window, Until, Text string }
	pageBars  struct {
		Width, Height       int
		Label, Latest, Most string
		Bars                []pageBar
	}
	pageBar struct {
		X, Width  int
		Y, Height float64
		Title     string
		Now       bool
	}
	// A pageStrip has a cell for each window in which the metric was Name.
	pageStrip struct {
		Name, Label   string
		Width, Height int
		Cells         []pageCell
	}
	pageCell struct {
		X, Width, Height int
		Class, Title     string
	}
)

// The size of a drawing, in units that are stretched to the card.
const (
	barStep     = 10
	barsHeight  = 56
	stripHeight = 12
	leastSteps  = 12 // so that two windows are no walls
	mostStrips  = 8
)

func newCard(m *metric, columns []pageColumn) pageCard {
	card := pageCard{Path: m.Path, Meaning: m.Meaning, From: columns[0].until}
	for _, c := range slices.Backward(columns) {
		until := c.until
		if until == "" {
			until = "under way"
		}
		card.Values = append(card.Values, pageValue{c.name, until, valueText(c.values[m.Collector][m.Path])})
	}
	if card.Bars = newBars(m, columns); card.Bars == nil {
		card.Strips, card.More = newStrips(m, columns)
	}
	return card
}

// drawingSize returns how wide n columns are drawn, and where the first begins: the
// newest is at the right edge.
func drawingSize(n int) (width, first int) {
	width = barStep * max(n, leastSteps)
	return width, width - barStep*n
}

// title is what a pointer over a window says.
func (c *pageColumn) title(text string) string {
	if c.until == "" {
		return "now: " + text
	}
	return fmt.Sprintf("window %s, until %s: %s", c.name, c.until, text)
}

// newBars draws numbers; nil where a value is none.
func newBars(m *metric, columns []pageColumn) *pageBars {
	numbers := make([]*float64, len(columns))
	most, latest := 0.0, ""
	for i, c := range columns {
		v := c.values[m.Collector][m.Path]
		if v == nil {
			continue
		}
		n, ok := valueNumber(m, v)
		if !ok {
			return nil
		}
		numbers[i], most, latest = &n, max(most, n), valueText(v)
		if c.until != "" {
			latest += ", until " + c.until
		} else {
			latest += " now"
		}
	}
	unit := ""
	if m.Format == "millis" {
		unit = "ms"
	}
	width, first := drawingSize(len(columns))
	drawn := &pageBars{
		Width: width, Height: barsHeight, Latest: latest, Most: formatNumber(most) + unit,
		Label: fmt.Sprintf("%s over %d windows, %s at most; the table below has the values", m.Path, len(columns), formatNumber(most)+unit),
	}
	for i, n := range numbers {
		if n == nil {
			continue
		}
		height := 1.0 // a 0 is seen, too
		if most > 0 {
			height = max(1, math.Round(*n/most*(barsHeight-2)))
		}
		drawn.Bars = append(drawn.Bars, pageBar{
			X: first + i*barStep + 1, Width: barStep - 2, Y: barsHeight - height, Height: height,
			Title: columns[i].title(formatNumber(*n) + unit), Now: columns[i].until == "",
		})
	}
	return drawn
}

// newStrips draws a switch as one strip, and texts as one each.
func newStrips(m *metric, columns []pageColumn) (strips []pageStrip, more int) {
	texts, isSwitch := map[string]bool{}, true
	for _, c := range columns {
		v := c.values[m.Collector][m.Path]
		if v == nil {
			continue
		}
		if _, ok := v.(bool); !ok {
			isSwitch = false
		}
		for _, text := range valueTexts(v) {
			texts[text] = true
		}
	}
	if isSwitch {
		delete(texts, "no") // what is not yes is no
	}
	names := slices.Sorted(maps.Keys(texts))
	if len(names) > mostStrips {
		more = len(names) - mostStrips
		names = names[:mostStrips]
	}
	width, first := drawingSize(len(columns))
	for _, name := range names {
		strip, count := pageStrip{Name: name, Width: width, Height: stripHeight}, 0
		for i, c := range columns {
			v := c.values[m.Collector][m.Path]
			if v == nil {
				continue
			}
			cell := pageCell{X: first + i*barStep + 1, Width: barStep - 2, Height: stripHeight - 2, Title: c.title(valueText(v))}
			switch {
			case !slices.Contains(valueTexts(v), name):
				cell.Class = "no"
			case c.until == "":
				cell.Class = "now"
				count++
			default:
				count++
			}
			strip.Cells = append(strip.Cells, cell)
		}
		strip.Label = fmt.Sprintf("%s: %s in %d of %d windows", m.Path, name, count, len(columns))
		strips = append(strips, strip)
	}
	return strips, more
}
