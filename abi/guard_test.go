package abi_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/parley-search/parley/abi"
)

func TestGuardInput(t *testing.T) {
	type item struct {
		Kind uint32
		Text string
	}
	for _, v := range vectors[struct {
		Name, Stage, Options string
		Flags                byte
		State, Hex           hexBytes
		Items                []item
	}](t, "guard-input.json") {
		var items []abi.Item
		for _, i := range v.Items {
			items = append(items, abi.Item{Kind: i.Kind, Text: []byte(i.Text)})
		}
		if got := abi.AppendGuardInput(nil, v.Stage, v.Flags, []byte(v.Options), v.State, items); !bytes.Equal(got, v.Hex) {
			t.Errorf("%s: AppendGuardInput = %x, want %x", v.Name, got, []byte(v.Hex))
		}
		in, err := abi.ParseGuardInput(v.Hex)
		if err != nil || abi.Stages[in.Stage-1] != v.Stage || in.Flags != v.Flags || string(in.Options) != v.Options || !bytes.Equal(in.State, v.State) {
			t.Errorf("%s: ParseGuardInput = %+v, %v", v.Name, in, err)
		}
		var got []item
		for i, ok := in.Next(); ok; i, ok = in.Next() {
			got = append(got, item{i.Kind, string(i.Text)})
		}
		if !slices.Equal(got, v.Items) {
			t.Errorf("%s: items %+v, want %+v", v.Name, got, v.Items)
		}
		for cut := range v.Hex {
			in, err := abi.ParseGuardInput(v.Hex[:cut])
			for err == nil {
				if _, ok := in.Next(); !ok {
					break
				}
			}
		}
	}
}

func TestGuardRecords(t *testing.T) {
	type record struct {
		Kind                                 abi.GuardKind
		Released, Item, Start, Length, Label uint32
		How                                  uint8
		Text                                 string
	}
	for _, v := range vectors[struct {
		Name    string
		Records []record
		Hex     hexBytes
	}](t, "guard-records.json") {
		var wrote []byte
		for _, r := range v.Records {
			switch r.Kind {
			case abi.GuardRelease:
				wrote = abi.AppendRelease(wrote, int(r.Released))
			case abi.GuardEdit:
				wrote = abi.AppendEdit(wrote, int(r.Item), int(r.Start), int(r.Length), r.Text)
			case abi.GuardBlock:
				wrote = abi.AppendBlock(wrote, int(r.Item), r.How, r.Text)
			case abi.GuardNote:
				wrote = abi.AppendNote(wrote, int(r.Label))
			}
		}
		if !bytes.Equal(wrote, v.Hex) {
			t.Errorf("%s: wrote %x, want %x", v.Name, wrote, []byte(v.Hex))
		}
		var got []record
		for b := []byte(v.Hex); ; {
			g, rest, ok, err := abi.NextVerdict(b)
			if err != nil {
				t.Fatalf("%s: NextVerdict: %v", v.Name, err)
			}
			if !ok {
				break
			}
			b = rest
			got = append(got, record{g.Kind, g.Released, g.Item, g.Start, g.Length, g.Label, g.How, string(g.Replacement) + string(g.Message)})
		}
		if !slices.Equal(got, v.Records) {
			t.Errorf("%s: read %+v, want %+v", v.Name, got, v.Records)
		}
	}
	for _, v := range vectors[struct {
		Name string
		Hex  hexBytes
	}](t, "guard-records-bad.json") {
		if _, _, _, err := abi.NextVerdict(v.Hex); !errors.Is(err, abi.ErrMalformed) {
			t.Errorf("%s: NextVerdict(%x) = %v, want ErrMalformed", v.Name, []byte(v.Hex), err)
		}
	}
}
