// Package upstreamtest has a name server for tests.
package upstreamtest

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// Resolver returns one that asks a name server of ours, on loopback, until the
// test ends. lookup has a name's addresses, nil for one that there is not; with
// an error the server says that it failed.
func Resolver(t testing.TB, lookup func(name string) ([]string, error)) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		server.Close()
		<-done
	})
	go func() {
		defer close(done)
		query := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(query)
			if err != nil {
				return
			}
			_, _ = server.WriteTo(answer(query[:n], lookup), from) // who got none asks again
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// The codes of answers, as RFC 1035 numbers them.
const (
	serverFailure = 2
	noSuchName    = 3
)

// answer answers a query for one name's A or AAAA records.
func answer(query []byte, lookup func(string) ([]string, error)) []byte {
	var labels []string
	at := 12
	for query[at] != 0 {
		n := int(query[at])
		labels = append(labels, string(query[at+1:at+1+n]))
		at += 1 + n
	}
	kind := binary.BigEndian.Uint16(query[at+1:])
	answer := slices.Clone(query[:at+5])
	list, err := lookup(strings.ToLower(strings.Join(labels, ".")))
	count := uint16(0)
	for _, s := range list {
		a := netip.MustParseAddr(s)
		if a.Is4() != (kind == 1) || kind != 1 && kind != 28 {
			continue
		}
		count++
		answer = append(answer, 0xc0, 12) // the name in the question
		answer = binary.BigEndian.AppendUint16(answer, kind)
		answer = append(answer, 0, 1, 0, 0, 0, 1)
		answer = binary.BigEndian.AppendUint16(answer, uint16(a.BitLen()/8))
		answer = append(answer, a.AsSlice()...)
	}
	code := byte(0)
	switch {
	case err != nil:
		code = serverFailure
	case list == nil:
		code = noSuchName
	}
	copy(answer[2:], []byte{0x81, 0x80 | code, 0, 1})
	binary.BigEndian.PutUint16(answer[6:], count)
	copy(answer[8:12], []byte{0, 0, 0, 0})
	return answer
}
