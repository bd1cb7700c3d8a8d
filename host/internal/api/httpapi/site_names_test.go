package httpapi

import "testing"

// TestServedNames is which names Host may have where the host listens on this
// machine, and where it listens on a network.
func TestServedNames(t *testing.T) {
	for host, want := range map[string][2]bool{
		"localhost":         {true, true},
		"127.0.0.1:7700":    {true, true},
		"[::1]:7700":        {true, true},
		"[::1]":             {true, true},
		"::1":               {true, true},
		"a.localhost:1":     {true, true},
		"listed.example":    {true, true},
		"parley:7700":       {false, true},
		"192.168.1.2:7700":  {false, true},
		"[fd00::2]:7700":    {false, true},
		"8.8.8.8":           {false, true},
		"nas.local":         {false, true},
		"parley.internal.":  {false, true},
		"":                  {false, false},
		"evil.example":      {false, false},
		"localhost.example": {false, false},
		"a.listed.example":  {false, false},
		"127.0.0.1.example": {false, false},
		"evil.example:127":  {false, false},
		"locals.evil":       {false, false},
	} {
		s := New(Deps{Site: Site{Hosts: []string{"listed.example"}}})
		near := s.servesName(HostName(host))
		s.wide.Store(true)
		if got := [2]bool{near, s.servesName(HostName(host))}; got != want {
			t.Errorf("%q is served on this machine and beyond: %v, want %v", host, got, want)
		}
	}
}
