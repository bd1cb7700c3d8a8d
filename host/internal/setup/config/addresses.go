package config

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

// The kinds of one option each.

func addressKind() Kind {
	return Kind{Name: "address", Allowed: "host:port, such as 127.0.0.1:7700", Examples: []string{"127.0.0.1:1"}, Wrong: "7700", set: func(c *Config, v string) error {
		_, port, err := net.SplitHostPort(v)
		if err != nil || port == "" {
			return fmt.Errorf("is %q", v)
		}
		if _, err := net.LookupPort("tcp", port); err != nil {
			return fmt.Errorf("is %q, and there is no such port", v)
		}
		c.HTTPAddr = v
		return nil
	}}
}

func networksKind() Kind {
	return Kind{
		Name: "networks", List: true, Allowed: "any, or networks such as 127.0.0.1,10.1.0.0/16", Examples: []string{"10.0.0.0/8"}, Wrong: "10.1.0.0/33",
		set: func(c *Config, v string) (err error) { c.PrivateNetworks, err = upstream.ParsePrivate(v); return err },
	}
}

func hostsKind() Kind {
	return Kind{Name: "hosts", List: true, Allowed: "host names without port, separated by commas", Examples: []string{"parley.example"}, Wrong: "a name", set: setHosts}
}

func setHosts(c *Config, v string) error {
	c.AllowedHosts = nil
	for host := range strings.SplitSeq(v, ",") {
		host = strings.TrimSpace(host)
		name := httpapi.HostName(host)
		_, err := netip.ParseAddr(name)
		if name == "" || err != nil && strings.ContainsAny(host, ":/@*[] ") {
			return fmt.Errorf("names %q", host)
		}
		c.AllowedHosts = append(c.AllowedHosts, name)
	}
	return nil
}

func proxiesKind() Kind {
	return Kind{
		Name: "proxies", List: true, Allowed: "addresses and networks such as 127.0.0.1,10.1.0.0/16", Examples: []string{"10.0.0.0/8"}, Wrong: "10.1.0.0/33", set: setProxies,
	}
}

func setProxies(c *Config, v string) error {
	c.TrustedProxies = nil
	for entry := range strings.SplitSeq(v, ",") {
		entry = strings.TrimSpace(entry)
		network, err := netip.ParsePrefix(entry)
		if address, wrong := netip.ParseAddr(entry); wrong == nil && address.Zone() == "" {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			return fmt.Errorf("names %q", entry)
		}
		c.TrustedProxies = append(c.TrustedProxies, network.Masked())
	}
	return nil
}

func originsKind() Kind {
	return Kind{
		Name: "origins", List: true, Allowed: "origins such as https://app.example.com, separated by commas",
		Examples: []string{"https://app.example"}, Wrong: "app.example.com", set: setOrigins,
	}
}

func setOrigins(c *Config, v string) error {
	c.AllowedOrigins = nil
	for origin := range strings.SplitSeq(v, ",") {
		origin = strings.ToLower(strings.TrimSpace(origin))
		u, err := outbound.ParseURL(origin, outbound.URLRules{NoPath: true})
		if err != nil || u.Scheme+"://"+u.Host != origin || strings.Contains(u.Host, "*") {
			return fmt.Errorf("names %q", origin)
		}
		if u.Scheme == "http" && u.Port() == "80" || u.Scheme == "https" && u.Port() == "443" {
			origin = origin[:strings.LastIndexByte(origin, ':')] // browsers leave it out
		}
		c.AllowedOrigins = append(c.AllowedOrigins, origin)
	}
	return nil
}

func webhookKind() Kind {
	return Kind{
		Name: "webhook", Allowed: "an http or https address with a host, and no user or fragment", Examples: []string{"http://x.example"}, Wrong: "ftp://s3cret",
		set: func(c *Config, v string) (err error) { c.TaskWebhook, err = upstream.ParseWebhookURL(v); return err },
	}
}

func publicURLKind() Kind {
	return Kind{
		Name: "public URL", Allowed: "an http or https URL without user, query and fragment, such as https://search.example.com",
		Examples: []string{"https://a.example/x/"}, Wrong: "ftp://me:s3cret@x.example", set: setPublicURL,
	}
}

func setPublicURL(c *Config, v string) error {
	if _, err := outbound.ParseURL(v, outbound.URLRules{}); err != nil {
		return err
	}
	c.PublicURL = strings.TrimRight(v, "/")
	return nil
}

func publicKeyKind() Kind {
	return Kind{
		Name: "public key", Allowed: "a public key of minisign or the path of its .pub file",
		Examples: []string{"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"}, Wrong: "no-key",
		set: func(c *Config, v string) (err error) {
			if c.PluginPublicKey, err = deploy.ReadPublicKey(v); err != nil {
				return fmt.Errorf("is %.60q, which cannot be used: %w", v, err)
			}
			return nil
		},
	}
}

func pluginRegistryKind() Kind {
	return Kind{
		Name: "registry", Allowed: "a registry and what its repositories begin with, such as registry.example.com/parley",
		Examples: []string{"registry.example.com/parley"}, Wrong: "Example.com/PARLEY:1",
		set: func(c *Config, v string) (err error) {
			if c.PluginRegistry, err = deploy.ParseRegistry(v); err != nil {
				return fmt.Errorf("is %.100q: %w", v, err)
			}
			return nil
		},
	}
}

// isLoopback reports whether nobody else can connect to addr.
func isLoopback(addr string) bool {
	host, _, _ := net.SplitHostPort(addr) // it was checked
	return outbound.IsLoopback(host)
}
