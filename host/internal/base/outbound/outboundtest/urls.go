// Package outboundtest has addresses that nobody may give the host.
package outboundtest

// BadURLs are texts that no setting takes as the address of a server. Those that hold secret must
// not be repeated.
var BadURLs = []string{
	"x", "//host.example", "host.example", "host.example:80", "/path", "?q",
	"http:", "http:/", "http://", "http:///path", "http:host.example", "https:/host.example", "http://:80", "https://:443/v1", "http://.", "http://..:80", "http://[]", "http://[::1", "http://::1/",
	"ftp://host.example", "file:///etc/passwd", "javascript:alert(1)", "data:text/plain,x", "unix:///run/x.sock", "ws://host.example", "HTTPSS://host.example",
	"http://host.example:", "http://host.example:0", "http://host.example:99999", "http://host.example:65536", "http://host.example:-1", "http://host.example:http", "http://host.example:80:80",
	" http://host.example", "http://host.example ", "http://host .example", "http://host.example/a b", "http://host.example\t", "http://host.example\n/x", "http://host.example/\x00", "http://host.example/\x7f", "http://host.example/\u0085",
	"http:\\\\host.example", "http://host.example\\@evil.example", "http://host.example/a\\b",
	"http://host.example#fragment", "http://host.example/#", "http://host%2eexample", "http://[fe80::1%25eth0]/", "http://ho%zzst.example", "http://host.example/%zz",
}

// UserURLs hold a user, which few may name.
var UserURLs = []string{"http://user@host.example", "http://user:s3cret@host.example", "http://@host.example", "http://host.example:80@evil.example"}
