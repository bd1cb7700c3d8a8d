package conformance

import "testing"

func TestDear(t *testing.T) {
	for cost, want := range map[Cost]bool{
		{NS: 1000, Fuel: 3000}: false, {NS: 1000, Fuel: 19_999}: false, {NS: 1000, Fuel: 20_000}: true, {NS: 0, Fuel: 5}: false,
	} {
		if got := cost.dear(); got != want {
			t.Errorf("%d units in %d ns are dear: %v, want %v", cost.Fuel, cost.NS, got, want)
		}
	}
}
