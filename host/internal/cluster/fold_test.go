package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"
)

// A writer makes records as a leader does that sees all that it wrote.
type writer struct{ fold }

func (w *writer) claim(id string) []byte {
	r := Record{Format: Format, Kind: KindClaim, Log: max(w.Log, 1), Term: w.Term + 1, Prev: w.Seq, Chain: w.Chain, Data: []byte(`{"id":"` + id + `"}`)}
	return r.Encode(nil)
}

func (w *writer) txn(t *testing.T, size int) [][]byte {
	t.Helper()
	list, err := w.encode([]Op{{Kind: OpSet, Key: []byte("k"), Value: make([]byte, size)}})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// takeAll takes messages in their order, and returns what they meant.
func (f *fold) takeAll(list ...[]byte) (got string, err error) {
	for _, b := range list {
		s, err := f.judge(f.Seq+1, b)
		if err != nil {
			return got, err
		}
		got += map[meaning]string{meansNothing: "-", meansPart: "p", meansTxn: "t", meansClaim: "c"}[s.meaning]
		f.advance(&s)
	}
	return got, nil
}

// TestFold: what a message means at each place where something can put it.
func TestFold(t *testing.T) {
	w := &writer{fold{partLen: 100}}
	claim := w.claim("a")
	if _, err := w.takeAll(claim); err != nil {
		t.Fatal(err)
	}
	rival := (&writer{}).claim("b") // the first claim of somebody else, of another log
	other, _ := DecodeRecord(rival, nil)
	other.Log = 99
	rival = other.Encode(nil)
	small, large, next := w.txn(t, 10)[0], w.txn(t, 250), w.claim("b")
	changed := func(b []byte, f func(*Record)) []byte {
		r, err := DecodeRecord(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		f(&r)
		return r.Encode(nil)
	}
	flipped := append([]byte(nil), small...)
	flipped[headLen] ^= 1
	for what, tt := range map[string]struct {
		list [][]byte
		want string
		err  error
	}{
		"a transaction":                           {[][]byte{claim, small}, "ct", nil},
		"a transaction in parts":                  {append([][]byte{claim}, large...), "cppt", nil},
		"a second first claim":                    {[][]byte{claim, rival}, "c-", nil},
		"a transaction stored twice":              {[][]byte{claim, small, small}, "ct-", nil},
		"a transaction after a claim":             {[][]byte{claim, next, small}, "cc-", nil},
		"a claim after a transaction":             {[][]byte{claim, small, next}, "ct-", nil},
		"a claim between parts":                   {[][]byte{claim, large[0], next, large[1], large[2]}, "cp---", nil},
		"a first part lost":                       {[][]byte{claim, large[1], large[2]}, "c--", nil},
		"a second part lost":                      {[][]byte{claim, large[0], large[2]}, "cp-", nil},
		"a first part lost and its place taken":   {[][]byte{claim, rival, large[1], large[2]}, "c---", nil},
		"a second part lost and its place taken":  {[][]byte{claim, large[0], rival, large[2]}, "cp--", nil},
		"parts in the wrong order":                {[][]byte{claim, large[1], large[0], large[2]}, "c---", nil},
		"a transaction before any claim":          {[][]byte{changed(small, func(r *Record) { r.Format, r.Prev, r.Chain, r.Term = Format, 0, 0, 0 })}, "", ErrDiverged},
		"a flipped bit":                           {[][]byte{claim, flipped, small}, "c--", nil},
		"a flipped bit in the wrong place":        {[][]byte{claim, small, flipped}, "ct-", nil},
		"no record at all":                        {[][]byte{claim, []byte("hello"), {}, []byte("x"), next}, "c----", nil},
		"another log":                             {[][]byte{claim, changed(small, func(r *Record) { r.Log = 2 })}, "c", ErrOtherLog},
		"another log in the wrong place":          {[][]byte{claim, changed(small, func(r *Record) { r.Log, r.Prev = 2, 7 })}, "c-", nil},
		"another history":                         {[][]byte{claim, changed(small, func(r *Record) { r.Chain++ })}, "c", ErrDiverged},
		"another term, by who saw all":            {[][]byte{claim, changed(small, func(r *Record) { r.Term++ })}, "c", ErrDiverged},
		"a number left out":                       {[][]byte{claim, changed(small, func(r *Record) { r.N++ })}, "c", ErrDiverged},
		"a term left out":                         {[][]byte{claim, changed(next, func(r *Record) { r.Term++ })}, "c", ErrDiverged},
		"a newer format":                          {[][]byte{claim, changed(small, func(r *Record) { r.Format = Format + 1 })}, "c", ErrFormat},
		"a newer format in the wrong place":       {[][]byte{claim, small, changed(small, func(r *Record) { r.Format = Format + 1 })}, "ct-", nil},
		"an unknown kind":                         {[][]byte{claim, changed(small, func(r *Record) { r.Kind = 7 })}, "c", ErrDamaged},
		"a claim that is not JSON":                {[][]byte{changed(claim, func(r *Record) { r.Data = []byte("x") })}, "", ErrDamaged},
		"operations that cannot be read":          {[][]byte{claim, changed(small, func(r *Record) { r.Data = []byte{9} })}, "c", ErrDamaged},
		"a last part that makes no operations":    {[][]byte{claim, large[0], large[1], changed(large[2], func(r *Record) { r.Data = nil })}, "cpp", ErrDamaged},
		"a transaction after one that was voided": {[][]byte{claim, large[1], changed(small, func(r *Record) { r.Prev++ })}, "c-t", nil},
	} {
		f := &fold{partLen: 100}
		got, err := f.takeAll(tt.list...)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v, want %q, %v", what, got, err, tt.want, tt.err)
		}
		if want := strings.Count(tt.want, "c"); f.Term != uint64(want) {
			t.Errorf("%s: term %d, want %d", what, f.Term, want)
		}
		if f.held > 0 && !strings.HasSuffix(tt.want, "p") {
			t.Errorf("%s: %d parts are held", what, f.held)
		}
	}
}

// TestFoldUnverified: in a log of format 2, what no node of the cluster wrote changes nothing,
// wherever it stands, and what a node wrote counts behind it.
func TestFoldUnverified(t *testing.T) {
	key, other := Key("the key of this cluster"), Key("the key of another one")
	w := &fold{partLen: 100, key: key}
	claim := Record{Format: 2, Kind: KindClaim, Log: 7, Term: 1, Data: []byte(`{"id":"a","format":2}`)}
	if _, err := w.takeAll(claim.Encode(key)); err != nil {
		t.Fatal(err)
	}
	next := func(f *fold) Record { // a transaction that fits
		return Record{Format: 2, Kind: KindTxn, Log: 7, Term: f.Term, N: f.N + 1, Prev: f.Seq, Chain: f.Chain, Data: []byte("\x02\x01k")}
	}
	stealing := func(f *fold) Record { // a claim that fits
		return Record{Format: 2, Kind: KindClaim, Log: 7, Term: f.Term + 1, Prev: f.Seq, Chain: f.Chain, Data: []byte(`{"id":"x","url":"http://127.0.0.1:1"}`)}
	}
	older := func(r Record) []byte { r.Format = 1; return r.Encode(nil) }
	newer := func(r Record) []byte { r.Format = 200; return r.Encode(other) }
	cut := func(r Record) []byte { // as long as a head, and with a right checksum
		b := (&Record{Format: 1, Kind: r.Kind, Log: r.Log, Term: r.Term, N: r.N, Prev: r.Prev, Chain: r.Chain}).Encode(nil)
		b = b[:headLen]
		b[0] = 2
		return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	}
	for what, forge := range map[string]func(f *fold) []byte{
		"a transaction of another cluster": func(f *fold) []byte { r := next(f); return r.Encode(other) },
		"a claim of another cluster":       func(f *fold) []byte { r := stealing(f); return r.Encode(other) },
		"a transaction without a code":     func(f *fold) []byte { return older(next(f)) },
		"a claim without a code":           func(f *fold) []byte { return older(stealing(f)) },
		"a claim of a format of later":     func(f *fold) []byte { return newer(stealing(f)) },
		"a head without a code":            func(f *fold) []byte { return cut(stealing(f)) },
		"a greeting":                       func(*fold) []byte { return []byte("hello") },
		"nothing":                          func(*fold) []byte { return nil },
	} {
		f := *w
		if got, err := f.takeAll(forge(&f)); got != "-" || err != nil || f.Term != 1 || f.N != 0 || f.Chain != w.Chain {
			t.Errorf("%s: %q, %v, at %+v; want it void", what, got, err, f.Position)
		}
		r := next(&f)
		if got, err := f.takeAll(r.Encode(key)); got != "t" || err != nil {
			t.Errorf("a transaction behind %s: %q, %v", what, got, err)
		}
	}
}

// TestClaimsAgain: a claim names the URL that writes go to, and counts at one place of one log. So
// nobody sends them elsewhere: not by a claim that was recorded, of a node that is gone by now, nor
// a node with an old copy of its data, or with a key of before.
func TestClaimsAgain(t *testing.T) {
	key, before := Key("the key of this cluster"), Key("the key of before")
	claim := func(f *fold, key Key, id string) []byte {
		r := Record{Format: 2, Kind: KindClaim, Log: 7, Term: f.Term + 1, Prev: f.Seq, Chain: f.Chain, Data: []byte(`{"id":"` + id + `","url":"http://` + id + `","format":2}`)}
		return r.Encode(key)
	}
	f := &fold{partLen: 100, key: key}
	write := func() {
		t.Helper()
		list, err := f.encode([]Op{{Kind: OpSet, Key: []byte("k")}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.takeAll(list...); got != "t" || err != nil {
			t.Fatalf("a transaction of the leader: %q, %v", got, err)
		}
	}
	gone := claim(f, key, "gone")
	if got, err := f.takeAll(gone); got != "c" || err != nil || f.Leader.URL != "http://gone" {
		t.Fatalf("a claim: %q, %v, leader %+v", got, err, f.Leader)
	}
	old := *f // the copy
	write()
	if got, err := f.takeAll(claim(f, key, "now")); got != "c" || err != nil {
		t.Fatalf("the next claim: %q, %v", got, err)
	}
	for range 3 { // places
		write()
		for what, b := range map[string][]byte{"recorded": gone, "of an old copy": claim(&old, key, "old"), "of a key of before": claim(f, before, "removed")} {
			if got, err := f.takeAll(b); got != "-" || err != nil || f.Term != 2 || f.Leader.URL != "http://now" {
				t.Errorf("a claim %s at place %d: %q, %v, term %d, leader %+v; want it void", what, f.Seq, got, err, f.Term, f.Leader)
			}
		}
	}
}

// TestFound: a node without data begins no log; who is told to does, once, and only nodes
// with the key go on with it.
func TestFound(t *testing.T) {
	key := Key("the key of this cluster")
	list := &memLog{}
	log := memEnd{list, "a"}
	open := func(id string, key Key) *Node {
		n, err := Open(Options{ID: id, Log: memEnd{list, id}, Database: &simDB{data: map[string]string{}}, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := open("a", key); !errors.Is(n.claim(t.Context()), errNoLog) || n.leading {
		t.Error("a node without data leads an empty stream")
	}
	if begun, err := Found(t.Context(), log, key, "test"); !begun || err != nil || !IsFounding(list.list[0], key) || IsFounding(list.list[0], nil) {
		t.Fatalf("the log is not begun: %v, %v", begun, err)
	}
	if begun, err := Found(t.Context(), log, key, "test"); begun || err != nil {
		t.Errorf("the log is begun twice: %v, %v", begun, err)
	}
	if n := open("stranger", Key("another")); !errors.Is(n.claim(t.Context()), errNoLog) || n.leading || n.stored.Log != 0 {
		t.Errorf("a node with another key leads, or has log %x", n.stored.Log)
	}
	n := open("a", key)
	if err := n.readOn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.claim(t.Context()); err != nil || !n.leading || n.stored.Term != 2 || n.stored.Format() != Format {
		t.Errorf("the first node: %v, leading %v, %+v; want it to lead term 2", err, n.leading, n.stored)
	}
}

// TestVerify: a node looks for its last message before it claims, and when it
// starts.
func TestVerify(t *testing.T) {
	w := &writer{fold{partLen: 100}}
	claim := w.claim("a")
	if _, err := w.takeAll(claim); err != nil {
		t.Fatal(err)
	}
	small := w.txn(t, 10)[0]
	flipped := append([]byte(nil), small...)
	flipped[headLen] ^= 1
	foreign, _ := DecodeRecord(claim, nil)
	foreign.Log = 2
	elsewhere, _ := DecodeRecord(small, nil)
	elsewhere.Term = 4
	for what, tt := range map[string]struct {
		log  [][]byte
		want error
	}{
		"the same log":         {[][]byte{claim, small}, nil},
		"a log cut short":      {[][]byte{claim}, errBehind},
		"an empty log":         {nil, errBehind},
		"another log":          {[][]byte{claim, foreign.Encode(nil)}, ErrOtherLog},
		"another history":      {[][]byte{claim, elsewhere.Encode(nil)}, ErrDiverged},
		"a damaged message":    {[][]byte{claim, flipped}, ErrDamaged},
		"something else there": {[][]byte{claim, []byte("hello")}, ErrDamaged},
	} {
		db := &simDB{data: map[string]string{}}
		n, err := Open(Options{Begins: true, ID: "a", Log: memEnd{&memLog{list: [][]byte{claim, small}}, "a"}, Database: db})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.readOn(t.Context()); err != nil || n.stored.Seq != 2 {
			t.Fatalf("at %d, %v", n.stored.Seq, err)
		}
		log := memEnd{&memLog{list: tt.log}, "a"}
		if n, err = Open(Options{Begins: true, ID: "a", Log: log, Database: db}); err != nil {
			t.Fatal(err)
		}
		if err := n.claim(t.Context()); !errors.Is(err, tt.want) {
			t.Errorf("%s: claim: %v, want %v", what, err, tt.want)
		}
		if halts := tt.want != nil && tt.want != errBehind; (n.halted != nil) != halts || n.leading != (tt.want == nil) {
			t.Errorf("%s: halted %v, leading %v", what, n.halted, n.leading)
		}
	}
}

// A purgedLog has no messages up to one.
type purgedLog struct {
	memEnd
	upto uint64
}

func (l purgedLog) Read(ctx context.Context, from uint64) ([]Message, error) {
	return l.memEnd.Read(ctx, max(from, l.upto+1))
}

// TestPurged: a node that lacks what was purged halts, so that it cannot claim
// the log; one that lacks nothing goes on.
func TestPurged(t *testing.T) {
	w := &writer{fold{partLen: 100}}
	var list [][]byte
	for i := range 5 {
		b := w.claim("a")
		if i > 0 {
			b = w.txn(t, i)[0]
		}
		if _, err := w.takeAll(b); err != nil {
			t.Fatal(err)
		}
		list = append(list, b)
	}
	for has, want := range []error{ErrPurged, ErrPurged, nil, nil, nil, nil} {
		db := &simDB{data: map[string]string{}}
		n, err := Open(Options{Begins: true, ID: "a", Log: memEnd{&memLog{list: list[:has]}, "a"}, Database: db})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.readOn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, err = Open(Options{Begins: true, ID: "a", Log: purgedLog{memEnd{&memLog{list: list}, "a"}, 2}, Database: db}); err != nil {
			t.Fatal(err)
		}
		if err := n.claim(t.Context()); !errors.Is(err, want) || n.leading != (want == nil) {
			t.Errorf("with %d of 5 messages, of which 2 were purged: %v, leading %v, want %v", has, err, n.leading, want)
		}
	}
}

// TestBegunAnew: a node without data does not take the first message of a log that
// goes on from another one.
func TestBegunAnew(t *testing.T) {
	r := Record{Format: Format, Kind: KindClaim, Log: 7, Term: 4, Chain: 99, Data: []byte("{}")}
	empty := fold{partLen: partBytes}
	if _, err := empty.judge(1, r.Encode(nil)); !errors.Is(err, ErrPurged) {
		t.Errorf("a node without data takes it: %v, want ErrPurged", err)
	}
	has := fold{Position: Position{Log: 7, Term: 3, Chain: 99}, partLen: partBytes}
	if s, err := has.judge(1, r.Encode(nil)); err != nil || s.meaning != meansClaim {
		t.Errorf("the node that begins it: %v, %v; want a claim", s.meaning, err)
	}
}
