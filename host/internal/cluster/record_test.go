package cluster

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestRecordBytes holds the format to its bytes: logs of older builds are read.
func TestRecordBytes(t *testing.T) {
	data, err := encodeOps([]Op{
		{Kind: OpSet, Key: []byte("k"), Value: []byte("v")},
		{Kind: OpDelete, Key: []byte("d")},
		{Kind: OpDeletePrefix, Key: []byte("p/")},
		{Kind: OpSetUntil, Key: []byte("u"), Value: []byte("w"), Until: 300},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := Record{Format: 1, Kind: KindTxn, Log: 1, Term: 2, N: 3, Part: 4, Prev: 5, Chain: 6, Data: data}
	const want = "01" + "01" + "0000000000000001" + "0000000000000002" + "0000000000000003" + "0000000000000004" +
		"0000000000000005" + "0000000000000006" + "01016b0176" + "020164" + "0302702f" + "0401750177ac02" + "b1106e40"
	b := r.Encode(nil)
	if got := hex.EncodeToString(b); got != want {
		t.Errorf("encoded\n%s, want\n%s", got, want)
	}
	back, err := DecodeRecord(b, nil)
	if err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("decoded %+v, %v, want %+v", back, err, r)
	}
	if got, want := sum(7, b), uint64(0x97c755d789f3f6d0); got != want {
		t.Errorf("chain %#x, want %#x", got, want)
	}
	ops, err := decodeOps(back.Data)
	if err != nil || len(ops) != 4 || ops[3].Until != 300 || string(ops[2].Key) != "p/" {
		t.Errorf("operations %+v, %v", ops, err)
	}
}

// TestRecordDamage: each changed bit and each cut is found.
func TestRecordDamage(t *testing.T) {
	whole := (&Record{Format: 1, Kind: KindTxn, Log: 1, Term: 2, N: 3, Data: []byte("some data")}).Encode(nil)
	for i := range len(whole) * 8 {
		b := bytes.Clone(whole)
		b[i/8] ^= 1 << (i % 8)
		if _, err := DecodeRecord(b, nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("bit %d changed: %v", i, err)
		}
	}
	for i := range whole {
		if _, err := DecodeRecord(whole[:i], nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}

func TestDecodeOpsRefuses(t *testing.T) {
	for what, tt := range map[string]struct{ data, want string }{
		"an operation of no kind":    {"\x00", "kind 0"},
		"a kind of later":            {"\x05\x01k", "kind 5"},
		"no key":                     {"\x02", "no number"},
		"a key that is cut":          {"\x02\x05k", "5 bytes"},
		"a length past all bytes":    {"\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01k", "a field of"},
		"a length past 64 bits":      {"\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7fk", "no number"},
		"a value that is cut":        {"\x01\x01k\x02v", "2 bytes"},
		"a time past all times":      {"\x04\x01k\x01v\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "until"},
		"a second one that is short": {"\x02\x01k\x01\x01", "operation 1"},
	} {
		if ops, err := decodeOps([]byte(tt.data)); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v, want an error with %q", what, ops, err, tt.want)
		}
	}
}

// TestEncodeOpsBounds: a transaction that some node could not apply does not get
// into the log.
func TestEncodeOpsBounds(t *testing.T) {
	many := make([]Op, MaxOps)
	for i := range many {
		many[i] = Op{Kind: OpDelete}
	}
	value := func(n int) []Op { return []Op{{Kind: OpSet, Key: []byte("k"), Value: make([]byte, n)}} }
	for what, tt := range map[string]struct {
		ops []Op
		ok  bool
	}{
		"as many as may be":          {many, true},
		"one more":                   {append(many, Op{Kind: OpDelete}), false},
		"a large value":              {value(10 << 20), true},
		"more than a node reads":     {value(MaxData), false},
		"many values of middle size": {append(append(value(largeValue-1), value(largeValue-1)...), value(largeValue-1)...), false},
		"two of them":                {append(value(largeValue-1), value(largeValue-1)...), true},
	} {
		if _, err := encodeOps(tt.ops); (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestPositionBytes(t *testing.T) {
	for _, p := range []Position{{}, {1, 2, 3, 4, 5, 6, Claim{"id", "http://a", "1.2", 1}}} {
		b, err := p.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		var back Position
		if err := back.UnmarshalBinary(b); err != nil || back != p {
			t.Errorf("read %+v, %v, want %+v", back, err, p)
		}
		for i := range b {
			if err := new(Position).UnmarshalBinary(b[:i]); err == nil {
				t.Errorf("cut to %d bytes, no error", i)
			}
		}
	}
}

// FuzzTake: whatever a message holds, taking it ends, does not panic, and leaves
// a fold as it was that halts.
func FuzzTake(f *testing.F) {
	claim := Record{Format: 1, Kind: KindClaim, Log: 1, Term: 1, Data: []byte(`{"id":"a"}`)}
	f.Add(claim.Encode(nil), uint64(1), false)
	data, _ := encodeOps([]Op{{Kind: OpSetUntil, Key: []byte("k"), Value: []byte("v"), Until: 1}})
	f.Add((&Record{Format: 1, Kind: KindTxn, Log: 1, Term: 1, N: 1, Prev: 1, Data: data}).Encode(nil), uint64(2), true)
	f.Add((&Record{Format: 1, Kind: KindMore, Log: 1, Term: 1, N: 1, Prev: 1, Data: data}).Encode(nil), uint64(2), true)
	f.Add((&Record{Format: 2, Kind: 9}).Encode(nil), uint64(1), false)
	f.Fuzz(func(t *testing.T, b []byte, seq uint64, fit bool) {
		state := fold{partLen: partBytes}
		first := claim.Encode(nil)
		s, err := state.judge(1, first)
		if err != nil {
			t.Fatal(err)
		}
		state.advance(&s)
		if r, err := DecodeRecord(b, nil); fit && err == nil { // what is behind the fence
			r.Log, r.Term, r.Prev, r.Chain, seq = 1, 1, 1, state.Chain, 2
			b = r.Encode(nil)
		}
		before := state
		s, err = state.judge(seq, b)
		if !reflect.DeepEqual(state, before) {
			t.Fatal("judging changed the fold")
		}
		if err != nil {
			return
		}
		if again, err := encodeOps(s.ops); s.meaning == meansTxn && err == nil {
			if ops, err := decodeOps(again); err != nil || !reflect.DeepEqual(ops, s.ops) {
				t.Fatalf("operations %+v, written and read again: %+v, %v", s.ops, ops, err)
			}
		}
		state.advance(&s)
		if state.Seq != seq {
			t.Fatalf("at %d after message %d", state.Seq, seq)
		}
	})
}
