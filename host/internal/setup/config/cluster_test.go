package config

import (
	"strings"
	"testing"
)

// TestClusterInsecure: documents go over a network to NATS encrypted, or where somebody said
// that they may go as they are.
//
//parley:option cluster-insecure
func TestClusterInsecure(t *testing.T) {
	for urls, fine := range map[string]bool{
		"nats://127.0.0.1:4222,nats://localhost:4223,nats://[::1]:4224": true,
		"tls://n1.example:4222,tls://10.0.0.7":                          true,
		"nats://n1.example:4222":                                        false,
		"nats://10.0.0.7:4222":                                          false,
		"tls://n1.example,nats://me:s3cret@n2.example":                  false,
		"nats://127.0.0.1.example:4222":                                 false,
	} {
		for _, insecure := range []string{"false", "true"} {
			_, _, err := Load(Sources{Flags: map[string]string{
				"cluster-name": "a", "cluster-nats": urls, "cluster-insecure": insecure, "master-key": "a master key of 26 bytes..",
			}})
			if want := fine || insecure == "true"; (err == nil) != want {
				t.Errorf("%s with --cluster-insecure=%s: %v", urls, insecure, err)
			} else if err != nil && (!strings.Contains(err.Error(), "--cluster-insecure") || strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("%s: %v; want an error that names the option, without the password", urls, err)
			}
		}
	}
}
