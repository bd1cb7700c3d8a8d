package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/deploy"
	"github.com/parley-search/parley/host/internal/httpapi"
	"github.com/parley-search/parley/host/internal/secret"
)

// headerValue takes what a header may hold. The error does not show it.
func headerValue(field func(*Config) *secret.Text) func(*Config, string) error {
	return func(c *Config, v string) error {
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) {
			return fmt.Errorf("holds characters that no header may have")
		}
		*field(c) = secret.New(v)
		return nil
	}
}

const durations = "a duration such as 500ms, 10s or 5m"

func publicKey(c *Config, v string) (err error) {
	if c.PluginPublicKey, err = deploy.ReadPublicKey(v); err != nil {
		return fmt.Errorf("is %.60q, which cannot be used: %w", v, err)
	}
	return nil
}

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if v == "" {
			return fmt.Errorf("is empty")
		}
		*field(c) = v
		return nil
	}
}

const (
	aDirectory = "a directory's path"
	aFile      = "a file's path"
)

func directoryPath(field func(*Config) *string) func(*Config, string) error { return path(field, true) }

func filePath(field func(*Config) *string) func(*Config, string) error { return path(field, false) }

// path refuses what has another thing in its place or in its way now, and not
// when the path is first used, which may be months later. Nothing need be there.
func path(field func(*Config) *string, directory bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		if err := text(field)(c, v); err != nil {
			return err
		}
		switch info, err := os.Stat(v); {
		case errors.Is(err, syscall.ENOTDIR):
			return fmt.Errorf("is %q, which leads through a file", v)
		case err == nil && directory && !info.IsDir():
			return fmt.Errorf("is %q, which is a file", v)
		case err == nil && !directory && info.IsDir():
			return fmt.Errorf("is %q, which is a directory", v)
		}
		return nil
	}
}

// truth reads a switch.
func truth(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		switch v {
		case "true", "1", "yes", "on":
			*field(c) = true
		case "false", "0", "no", "off":
			*field(c) = false
		default:
			return fmt.Errorf("is %q", v)
		}
		return nil
	}
}

const truths = "true or false"

func uids(field func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, v string) error {
		*field(c) = nil
		for uid := range strings.SplitSeq(v, ",") {
			uid = strings.TrimSpace(uid)
			if err := chat.CheckUID(uid); err != nil {
				return fmt.Errorf("names %q", uid)
			}
			*field(c) = append(*field(c), uid)
		}
		return nil
	}
}

func oneOf(field func(*Config) *string, allowed ...string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if !slices.Contains(allowed, v) {
			return fmt.Errorf("is %q", v)
		}
		*field(c) = v
		return nil
	}
}

func number(field func(*Config) *int, least, most int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return fmt.Errorf("is %q", v)
		}
		*field(c) = n
		return nil
	}
}

func seconds(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > 366*24*60*60 {
			return fmt.Errorf("is %q", v)
		}
		*field(c) = time.Duration(n) * time.Second
		return nil
	}
}

func size(field func(*Config) *int64) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := humanize.ParseBytes(v)
		if err != nil || n == 0 || n > 1<<40 {
			return fmt.Errorf("is %q", v)
		}
		*field(c) = int64(n)
		return nil
	}
}

// durationOrZero is duration where 0 has a meaning of its own.
func durationOrZero(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return fmt.Errorf("is %q", v)
		}
		*field(c) = d
		return nil
	}
}

func publicURL(c *Config, v string) error {
	u, err := url.Parse(v)
	if err != nil || u.User != nil {
		return errors.New("cannot be used") // without the text: it may hold a password
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("is %q", v)
	}
	c.PublicURL = strings.TrimRight(v, "/")
	return nil
}

func duration(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return fmt.Errorf("is %q", v)
		}
		*field(c) = d
		return nil
	}
}

func addr(c *Config, v string) error {
	_, port, err := net.SplitHostPort(v)
	if err != nil || port == "" {
		return fmt.Errorf("is %q", v)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("is %q, and there is no such port", v)
	}
	c.HTTPAddr = v
	return nil
}

func hosts(c *Config, v string) error {
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

func origins(c *Config, v string) error {
	c.AllowedOrigins = nil
	for origin := range strings.SplitSeq(v, ",") {
		origin = strings.ToLower(strings.TrimSpace(origin))
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Scheme+"://"+u.Host != origin || strings.Contains(u.Host, "*") {
			return fmt.Errorf("names %q", origin)
		}
		if u.Scheme == "http" && u.Port() == "80" || u.Scheme == "https" && u.Port() == "443" {
			origin = origin[:strings.LastIndexByte(origin, ':')] // browsers leave it out
		}
		c.AllowedOrigins = append(c.AllowedOrigins, origin)
	}
	return nil
}

// onThisMachine reports whether nobody else can connect to addr.
func onThisMachine(addr string) bool {
	host, _, _ := net.SplitHostPort(addr) // it was checked
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}
