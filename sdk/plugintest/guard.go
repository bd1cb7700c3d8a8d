package plugintest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/sdk/guard"
)

// A GuardDriver calls one guard as a host does, through one conversation after the other.
type GuardDriver struct {
	t        testing.TB
	guest    *guard.Guest
	manifest abi.Manifest
	triggers [256]bool // bytes
	texts    []string
	all      bool // each piece is given to the guard
	input    region
	options  []byte
	state    []byte
}

// Passed is what became of texts.
type Passed struct {
	Texts   []string // of a stream one: what went out
	Edits   [][2]int // of whole texts: from and to, in the texts of all items one behind the other
	Blocked string   // the message; "" where nothing was blocked
	How     uint8    // [abi.BlockRefusal] or [abi.BlockError]; 0: it passes
	Item    int      // that was blocked
	Notes   []string // labels, in their order; of a stream sorted, each once
}

// Text is the first one of the texts.
func (p Passed) Text() string {
	if len(p.Texts) == 0 {
		return ""
	}
	return p.Texts[0]
}

// NewGuard returns a driver of g with the manifest in a file, and no option set.
func NewGuard(t testing.TB, g guard.Guard, manifestFile string) *GuardDriver {
	t.Helper()
	b, err := os.ReadFile(manifestFile)
	if err != nil {
		t.Fatal(err)
	}
	d := &GuardDriver{t: t, guest: guard.NewGuest(g)}
	if err := json.Unmarshal(b, &d.manifest); err != nil {
		t.Fatalf("read %s: %v", manifestFile, err)
	}
	d.all = d.manifest.Triggers == nil
	d.SetOptions("{}")
	return d
}

// SetOptions sets the options that are in a JSON object, and all others to what they are
// by default.
func (d *GuardDriver) SetOptions(object string) {
	d.t.Helper()
	set := Options(object)
	d.all = d.manifest.Triggers == nil
	for name, o := range d.manifest.Options {
		value, isSet := set[name]
		if !isSet && o.Default != nil {
			set[name] = o.Default
		}
		for _, t := range d.manifest.Triggers {
			d.all = d.all || t.Option == name && isSet && !bytes.Equal(value, o.Default)
		}
	}
	for name := range set {
		if _, ok := d.manifest.Options[name]; !ok {
			d.t.Fatalf("the manifest has no option %s", name)
		}
	}
	for _, t := range d.manifest.Triggers {
		class, err := manifest.ByteClass(t.Bytes)
		if err != nil {
			d.t.Fatal(err)
		}
		for b := range class {
			d.triggers[b] = d.triggers[b] || class[b]
		}
		if t.Text != "" {
			d.texts = append(d.texts, t.Text)
		}
	}
	options, err := json.Marshal(set)
	if err != nil {
		d.t.Fatal(err)
	}
	d.options = options
}

// Begin begins another conversation.
func (d *GuardDriver) Begin() { d.state = nil }

// Whole gives the guard whole texts, of [guard.Question], [guard.Passages] or
// [guard.Arguments].
func (d *GuardDriver) Whole(stage guard.Stage, items ...guard.Item) Passed {
	d.t.Helper()
	var p Passed
	verdicts, err := d.call(stage, abi.GuardFirst|abi.GuardLast, items)
	if err != nil {
		d.t.Fatal(err)
	}
	begins := make([]int, len(items)+1)
	for i, item := range items {
		begins[i+1] = begins[i] + len(item.Text)
	}
	done := make([]int, len(items))
	p.Texts = make([]string, len(items))
	last := 0
	for _, v := range verdicts {
		switch v.Kind {
		case abi.GuardRelease:
			d.t.Fatalf("a release in the stage %s, whose texts are whole", abi.Stages[stage-1])
		case abi.GuardEdit:
			if int(v.Item) >= len(items) || int(v.Item) < last {
				d.t.Fatalf("an edit of item %d behind one of %d, of %d", v.Item, last, len(items))
			}
			last = int(v.Item)
			text, start, end := items[last].Text, int(v.Start), int(v.Start)+int(v.Length)
			d.checkEdit(text, done[last], v)
			p.Texts[last] += string(text[done[last]:start]) + string(v.Replacement)
			p.Edits = append(p.Edits, [2]int{begins[last] + start, begins[last] + end})
			done[last] = end
		default:
			d.take(&p, v)
		}
	}
	for i := range items {
		p.Texts[i] += string(items[i].Text[done[i]:])
	}
	return p
}

// checkEdit holds an edit to the rules of the contract.
func (d *GuardDriver) checkEdit(text []byte, done int, v abi.Verdict) {
	d.t.Helper()
	start, end := int(v.Start), int(v.Start)+int(v.Length)
	switch {
	case start < done || end > len(text):
		d.t.Fatalf("an edit of %d to %d, of %d bytes of which %d are done with", start, end, len(text), done)
	case start < len(text) && !utf8.RuneStart(text[start]), end < len(text) && !utf8.RuneStart(text[end]):
		d.t.Fatalf("an edit of %d to %d, within a code point of %q", start, end, text)
	case !utf8.Valid(v.Replacement):
		d.t.Fatalf("a replacement that is not UTF-8: %q", v.Replacement)
	}
}

func (d *GuardDriver) take(p *Passed, v abi.Verdict) {
	d.t.Helper()
	switch v.Kind {
	case abi.GuardBlock:
		p.Blocked, p.How, p.Item = string(v.Message), v.How, int(v.Item)
	case abi.GuardNote:
		if int(v.Label) >= len(d.manifest.Notes) {
			d.t.Fatalf("a note of label %d, and the manifest has %d", v.Label, len(d.manifest.Notes))
		}
		p.Notes = append(p.Notes, d.manifest.Notes[v.Label])
	}
}

// call makes a call twice, and wants the same of both.
func (d *GuardDriver) call(stage guard.Stage, flags byte, items []guard.Item) ([]abi.Verdict, error) {
	d.t.Helper()
	name := abi.Stages[stage-1]
	if !slices.Contains(d.manifest.Stages, name) {
		d.t.Fatalf("the manifest has no stage %s", name)
	}
	in := abi.AppendGuardInput(nil, name, flags, d.options, d.state, items)
	out, err := d.input.call(in, d.guest.Check)
	again, errAgain := d.input.call(in, d.guest.Check)
	if !bytes.Equal(out, again) || (err == nil) != (errAgain == nil) {
		d.t.Fatalf("two calls with the same input, in the stage %s: got %q, %v, then %q, %v", name, out, err, again, errAgain)
	}
	if err != nil {
		return nil, err
	}
	state, records, err := abi.GuardOutput(out)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	d.state = bytes.Clone(state)
	var all []abi.Verdict
	for {
		v, rest, ok, err := abi.NextVerdict(records)
		if err != nil {
			return nil, fmt.Errorf("read the answer's records: %w", err)
		}
		if !ok {
			return all, nil
		}
		all, records = append(all, v), rest
	}
}

// Stream gives the guard a stream in pieces: those that its triggers ask for, as a host
// does.
func (d *GuardDriver) Stream(stage guard.Stage, pieces ...string) Passed {
	d.t.Helper()
	s := stream{d: d, stage: stage, first: true}
	rest := ""
	for _, piece := range pieces {
		piece = rest + piece
		n := len(piece)
		for back := 1; back < min(utf8.UTFMax, len(piece)+1); back++ { // a code point comes whole
			if tail := piece[len(piece)-back:]; utf8.RuneStart(tail[0]) && !utf8.FullRuneInString(tail) {
				n = len(piece) - back
			}
		}
		rest = piece[n:]
		if n > 0 && s.passed.How == 0 {
			s.add(piece[:n])
		}
	}
	if s.passed.How == 0 {
		s.end()
	}
	s.passed.Texts = []string{s.out.String()}
	slices.Sort(s.passed.Notes)
	s.passed.Notes = slices.Compact(s.passed.Notes)
	return s.passed
}

type stream struct {
	d       *GuardDriver
	stage   guard.Stage
	first   bool
	guarded bool   // the guard holds something
	held    []byte // by the guard, or of a word that has no trigger yet
	out     strings.Builder
	passed  Passed
}

func (s *stream) add(piece string) {
	s.held = append(s.held, piece...)
	if s.d.all || s.guarded {
		s.check(0)
		return
	}
	at := s.trigger()
	if at < 0 {
		keep := len(s.held) - wordBegin(s.held, len(s.held))
		longest := 0
		for _, t := range s.d.texts {
			longest = max(longest, len(t)-1)
		}
		s.release(len(s.held) - min(keep, s.d.manifest.HoldBack+longest))
		return
	}
	s.release(max(wordBegin(s.held, at), at-s.d.manifest.HoldBack))
	s.check(0)
}

// wordBegin returns where the word that text[:end] ends with begins.
func wordBegin(text []byte, end int) int {
	for end > 0 {
		r, n := utf8.DecodeLastRune(text[:end])
		if r <= ' ' || r >= 0x3000 {
			break
		}
		end -= n
	}
	return end
}

// trigger returns where the first trigger is; -1: there is none.
func (s *stream) trigger() int {
	at := slices.IndexFunc(s.held, func(b byte) bool { return s.d.triggers[b] })
	for _, t := range s.d.texts {
		if i := bytes.Index(s.held, []byte(t)); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	return at
}

// release lets n bytes go, fewer where that is within a code point.
func (s *stream) release(n int) {
	for n > 0 && n < len(s.held) && !utf8.RuneStart(s.held[n]) {
		n--
	}
	s.out.Write(s.held[:n])
	s.held = bytes.Clone(s.held[n:])
}

func (s *stream) end() {
	if s.d.all || s.guarded {
		s.check(abi.GuardLast)
		if len(s.held) > 0 {
			s.d.t.Fatalf("%q is held at the end of a stream", s.held)
		}
		return
	}
	s.out.Write(s.held)
}

func (s *stream) check(flags byte) {
	d := s.d
	d.t.Helper()
	if s.first {
		flags |= abi.GuardFirst
		s.first = false
	}
	kind := abi.ItemAnswer
	if s.stage == guard.Reasoning {
		kind = abi.ItemReasoning
	}
	verdicts, err := d.call(s.stage, flags, []guard.Item{{Kind: kind, Text: s.held}})
	if err != nil {
		d.t.Fatal(err)
	}
	done := 0
	for _, v := range verdicts {
		switch v.Kind {
		case abi.GuardEdit:
			d.checkEdit(s.held, done, v)
			s.out.Write(s.held[done:v.Start])
			s.out.Write(v.Replacement)
			done = int(v.Start + v.Length)
		case abi.GuardRelease:
			if int(v.Released) > len(s.held) {
				d.t.Fatalf("a release of %d of %d bytes", v.Released, len(s.held))
			}
			if n := int(v.Released); n > done {
				s.out.Write(s.held[done:n])
				done = n
			}
		default:
			d.take(&s.passed, v)
		}
	}
	s.held = bytes.Clone(s.held[done:])
	s.guarded = len(s.held) > 0
	if s.passed.How == 0 && len(s.held) > d.manifest.HoldBack {
		d.t.Fatalf("%d bytes are held, and the manifest says %d: %q", len(s.held), d.manifest.HoldBack, s.held)
	}
}

// Cuts runs a stream in one piece and in n random ways to cut it, besides byte by byte,
// each from the state that there is, and wants the same of all.
func (d *GuardDriver) Cuts(stage guard.Stage, text string, n int) Passed {
	d.t.Helper()
	state := d.state
	want := d.Stream(stage, text)
	after := d.state
	rnd := rand.New(rand.NewPCG(uint64(len(text)), uint64(n)))
	for i := range n + 1 {
		var pieces []string
		for rest := text; rest != ""; {
			size := 1
			if i > 0 {
				size = 1 + rnd.IntN(min(len(rest), 1<<rnd.IntN(7)))
			}
			pieces, rest = append(pieces, rest[:size]), rest[size:]
		}
		d.state = state
		if got := d.Stream(stage, pieces...); !reflect.DeepEqual(got, want) {
			d.t.Fatalf("%q came in the pieces %q and passed as\n%+v, want\n%+v as in one piece", text, pieces, got, want)
		}
	}
	d.state = after
	return want
}

// User is an item of [guard.Question]: a message of the user.
func User(text string) guard.Item { return guard.Item{Kind: abi.ItemUser, Text: []byte(text)} }

// Assistant is an item of [guard.Question]: an earlier answer.
func Assistant(text string) guard.Item {
	return guard.Item{Kind: abi.ItemAssistant, Text: []byte(text)}
}

// Hit is the items of a hit in [guard.Passages].
func Hit(title, url, text string) []guard.Item {
	return []guard.Item{{Kind: abi.ItemTitle, Text: []byte(title)}, {Kind: abi.ItemURL, Text: []byte(url)}, {Kind: abi.ItemText, Text: []byte(text)}}
}

// Argument is an item of [guard.Arguments]: a string of a call's arguments.
func Argument(text string) guard.Item { return guard.Item{Kind: abi.ItemArguments, Text: []byte(text)} }

// CutsWanted is how many cuts a long test of streams makes: n, or what the variable CUTS says.
func CutsWanted(n int) int {
	if wanted, err := strconv.Atoi(os.Getenv("CUTS")); err == nil {
		return wanted
	}
	return n
}
