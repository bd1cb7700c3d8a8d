// Package natsd runs servers of NATS with JetStream in this process, on this
// machine's own addresses, for tests. It owns the server of NATS, which the program
// `parley` does not carry.
package natsd

import (
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/parley-search/parley/host/internal/base/freeport"
)

// Servers are servers that know each other.
type Servers struct{ list []*server.Server }

// startWait is how long a server may take until clients can connect.
const startWait = 30 * time.Second

// Start starts n servers that write below dir, and acknowledge what is on disk.
// They listen on 127.0.0.1, on ports that are free.
func Start(dir string, n int) (_ *Servers, err error) {
	ports, err := freeport.Find(n)
	if err != nil {
		return nil, err
	}
	s := &Servers{}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	for i, port := range ports {
		o := &server.Options{
			ServerName: fmt.Sprintf("nats-%d", i+1), Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
			JetStream: true, StoreDir: filepath.Join(dir, fmt.Sprintf("nats-%d", i+1)), SyncAlways: true,
			JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 16 << 30,
		}
		if n > 1 {
			o.Cluster = server.ClusterOpts{Name: "parley", Host: "127.0.0.1", Port: port, NoAdvertise: true}
			o.Cluster.Compression = server.CompressionOpts{Mode: server.CompressionOff}
			for _, p := range ports {
				o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", p)})
			}
		}
		one, err := server.NewServer(o)
		if err != nil {
			return nil, fmt.Errorf("start server %d of NATS: %w", i+1, err)
		}
		go one.Start()
		s.list = append(s.list, one)
	}
	for i, one := range s.list {
		if !one.ReadyForConnections(startWait) {
			return nil, fmt.Errorf("server %d of NATS is not ready within %v", i+1, startWait)
		}
	}
	return s, nil
}

// URLs are where clients connect to.
func (s *Servers) URLs() (urls []string) {
	for _, one := range s.list {
		urls = append(urls, one.ClientURL())
	}
	return urls
}

// Close ends all servers.
func (s *Servers) Close() {
	for _, one := range s.list {
		one.Shutdown()
	}
	for _, one := range s.list {
		one.WaitForShutdown()
	}
}
