package config

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
)

// natsURL is what an address of NATS may have: a login, too.
var natsURL = outbound.URLRules{Schemes: []string{"nats", "tls"}, User: true, NoPath: true}

var clusterName = regexp.MustCompile(`^[A-Za-z0-9-]{1,32}$`)

func clusterNameKind() Kind {
	return Kind{Name: "name", Allowed: "1 to 32 letters, digits and hyphens", Examples: []string{"docs-1"}, Wrong: "docs.1", set: func(c *Config, v string) error {
		if !clusterName.MatchString(v) {
			return fmt.Errorf("is %.40q", v)
		}
		c.Cluster.Name = v
		return nil
	}}
}

// natsKind takes URLs of NATS. Its errors do not show them.
func natsKind() Kind {
	return Kind{
		Name: "urls", List: true, Allowed: "URLs of NATS, separated by commas: nats://host:4222, or tls://host:4222", Examples: []string{"nats://a.example:4222,tls://b.example"}, Wrong: "http://me:s3cret@x.example",
		set: func(c *Config, v string) error {
			c.Cluster.NATS = nil
			for s := range strings.SplitSeq(v, ",") {
				s = strings.TrimSpace(s)
				if _, err := outbound.ParseURL(s, natsURL); err != nil {
					return fmt.Errorf("holds something else than URLs of NATS: one %w", err)
				}
				c.Cluster.NATS = append(c.Cluster.NATS, secret.New(s))
			}
			return nil
		},
	}
}

func advertiseKind() Kind {
	return Kind{Name: "url", Allowed: "an http or https URL without user, path and query, such as http://10.0.0.7:7700", Examples: []string{"http://10.0.0.7:7700", "https://a.example"}, Wrong: "http://me:s3cret@x.example", set: func(c *Config, v string) error {
		u, err := outbound.ParseURL(v, outbound.URLRules{NoPath: true})
		if err != nil {
			return err
		}
		c.Cluster.Advertise = u.Scheme + "://" + u.Host
		return nil
	}}
}

// CheckSecure refuses URLs of NATS that send what they are given over a network as it is.
// The error does not show them.
func (o *ClusterConfig) CheckSecure() error {
	if o.Insecure {
		return nil
	}
	for _, s := range o.NATS {
		u, err := outbound.ParseURL(s.Reveal(), natsURL)
		if err != nil || u.Scheme != "nats" { // the kind has let it through: tls
			continue
		}
		if !outbound.IsLoopback(u.Hostname()) {
			return fmt.Errorf("option cluster-nats: %s is another machine, and nats:// sends all documents to it unencrypted: give the servers TLS and write tls://, or set --cluster-insecure where nobody else is on that network", u.Host)
		}
	}
	return nil
}

// checkCluster refuses options that make no sense without another. origin is where
// the master key was set.
func (c *Config) checkCluster() error {
	o := &c.Cluster
	if o.Name == "" {
		if len(o.NATS) > 0 || o.Advertise != "" || o.Credentials != "" || o.CA != "" {
			return errors.New("option cluster-name is not set: without it the host is alone, and the other cluster- options say nothing")
		}
		return nil
	}
	var errs []error
	if len(o.NATS) == 0 {
		errs = append(errs, errors.New("option cluster-nats is not set: want the servers of NATS that have the log of cluster-name"))
	}
	errs = append(errs, o.CheckSecure())
	if n := len(c.MasterKey.Reveal()); n < MinMasterKey {
		errs = append(errs, fmt.Errorf("option master-key has %d bytes: a node of a cluster wants at least %d, the same on all nodes", n, MinMasterKey))
	}
	if c.ImportDump != "" || c.ImportSnapshot != "" {
		errs = append(errs, errors.New("options import-dump and import-snapshot cannot be set with cluster-name: import into a host that is alone, and send the data from there by POST /export"))
	}
	if host, _, _ := net.SplitHostPort(c.HTTPAddr); o.Advertise == "" && (host == "" || net.ParseIP(host).IsUnspecified()) {
		errs = append(errs, fmt.Errorf("option cluster-advertise is not set: http-addr %q says nothing of where the other nodes reach this one", c.HTTPAddr))
	}
	return errors.Join(errs...)
}
