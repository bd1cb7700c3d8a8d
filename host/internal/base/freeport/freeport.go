// Package freeport finds free ports for tests whose servers get their address before they
// listen, and may stop and start again.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports from first to below end are of those that Linux, macOS and Windows hand out to
// nobody by themselves. A port that the system chose is also chosen for another
// connection a moment later, and a server that starts again finds it taken.
const (
	first = 10_000
	end   = 32_768
)

// Find returns n ports of 127.0.0.1 that nobody listens on now. They are drawn by
// chance, so that processes that ask at the same time hardly get the same.
func Find(n int) (ports []int, err error) {
	for tries := 0; len(ports) < n; tries++ {
		port := first + rand.IntN(end-first)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		switch {
		case err == nil:
			defer l.Close() // only then, so that it is not found twice
			ports = append(ports, port)
		case tries > 100:
			return nil, errors.Join(fmt.Errorf("find %d free ports", n), err)
		}
	}
	return ports, nil
}

// FindAddrs is [Find] for addresses of the form "127.0.0.1:12345".
func FindAddrs(n int) (addrs []string, err error) {
	ports, err := Find(n)
	for _, p := range ports {
		addrs = append(addrs, net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
	}
	return addrs, err
}
