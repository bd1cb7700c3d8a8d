package upstream

import (
	"net/netip"
	"testing"
)

func TestCheckAddress(t *testing.T) {
	const (
		public  = "public"
		private = "private"
		never   = "never"
	)
	tests := []struct{ address, want string }{
		{"1.1.1.1", public},
		{"8.8.8.8", public},
		{"104.18.7.192", public},
		{"172.15.255.255", public},
		{"172.32.0.1", public},
		{"100.63.255.255", public},
		{"100.128.0.1", public},
		{"169.253.1.1", public},
		{"192.167.1.1", public},
		{"223.255.255.255", public},
		{"2606:4700::6812:7c0", public},
		{"2a00:1450::200e", public},

		{"127.0.0.1", private},
		{"127.255.255.254", private},
		{"::1", private},
		{"0.0.0.0", private},
		{"0.1.2.3", private},
		{"::", private},
		{"10.0.0.1", private},
		{"172.16.0.1", private},
		{"172.31.255.255", private},
		{"192.168.1.1", private},
		{"100.64.0.1", private},
		{"100.127.255.255", private},
		{"fc00::1", private},
		{"fdff::1", private},
		{"fec0::1", private},
		{"198.18.0.1", private},
		{"192.0.0.1", private},
		{"192.0.2.1", private},
		{"198.51.100.1", private},
		{"203.0.113.1", private},
		{"2001:db8::1", private},
		{"240.0.0.1", private},

		{"169.254.169.254", never},
		{"169.254.0.1", never},
		{"169.254.170.2", never},
		{"fe80::1", never},
		{"febf::1", never},
		{"fe80::1%eth0", never},
		{"100.100.100.200", never},
		{"168.63.129.16", never},
		{"192.0.0.192", never},
		{"fd00:ec2::254", never},
		{"fd00:ec2::23", never},
		{"fd20:ce::254", never},
		{"224.0.0.1", never},
		{"239.255.255.255", never},
		{"255.255.255.255", never},
		{"ff02::1", never},

		// One address inside another.
		{"::ffff:8.8.8.8", public},
		{"::ffff:10.0.0.1", private},
		{"::ffff:127.0.0.1", private},
		{"::ffff:169.254.169.254", never},
		{"::ffff:100.100.100.200", never},
		{"64:ff9b::8.8.8.8", public},
		{"64:ff9b::10.0.0.1", private},
		{"64:ff9b::169.254.169.254", never},
		{"::169.254.169.254", never},
		{"::10.0.0.1", private},
		{"::ffff:0:169.254.169.254", never},
		{"::ffff:0:10.0.0.1", private},
		{"2002:a9fe:a9fe::1", never},
		{"2002:a00:1::", private},
		{"2002:808:808::1", public},
		{"64:ff9b:1::169.254.169.254", never},
		{"64:ff9b:1:a9fe:a9:fe00::", never},
		{"64:ff9b:1:a9:fe:a9fe::", never},
		{"64:ff9b:1:0:a9:fea9:fe00:0", never},
		{"64:ff9b:1::8.8.8.8", private},
		{"2001:0:808:808::f5ff:fffe", private}, // Teredo: the client is 10.0.0.1
		{"2001:0:a9fe:a9fe::f7f7:f7f7", never}, // its server is the metadata
		{"2001:0:808:808::f7f7:f7f7", public},  // both are 8.8.8.8
	}
	for _, tt := range tests {
		a := netip.MustParseAddr(tt.address)
		got := public
		if checkAddress(a, Private{}) != nil {
			got = private
		}
		if checkAddress(a, AnyPrivate()) != nil {
			got = never
		}
		if got != tt.want {
			t.Errorf("%s is %s, want %s", tt.address, got, tt.want)
		}
	}
}
