package abi

// What a manifest's features may name: additions to the contract that came after the
// version that [Manifest.ABI] names. A host that lacks one refuses the plugin by its
// name.
const (
	FeatureAgain      = "again"     // [RecordAgain], and the steps that follow
	FeatureRequestID  = "requestId" // [EncodeRequest.RequestID]
	FeatureToken      = AuthToken   // schemes of an [Auth]
	FeatureHMAC       = AuthHMAC
	FeatureJWT        = AuthJWT
	FeatureHistogram  = MetricHistogram  // a kind of metrics
	FeatureShare      = AggregationShare // an aggregation of metrics
	FeatureGuardEvent = "guardEvent"     // the event guard
)

// An Again is the payload of a [RecordAgain].
type Again struct {
	// AfterMS is how long the host waits before it asks, in milliseconds: at most
	// [MaxAgainMS].
	AfterMS int `json:"after_ms,omitempty"`
	// Cancel says that the provider goes on working where nobody asks again: if the
	// answer ends early, encode is asked once more, with Cancelled, for a request
	// that calls the work off.
	Cancel bool `json:"cancel,omitempty"`
}

// MaxAgainMS bounds [Again.AfterMS].
const MaxAgainMS = 60_000

// Steps bounds what a round may take of a provider that has [FeatureAgain].
type Steps struct {
	Requests int `json:"requests,omitempty"` // beside the first, 1 to [MaxSteps]; 0: 100
	Seconds  int `json:"seconds,omitempty"`  // in all, 1 to [MaxTimeoutSeconds]; 0: as long as the answer may take
}

// MaxSteps bounds [Steps.Requests].
const MaxSteps = 1000
