// Package conformance is what authors try their plugins with, whatever language they
// are written in: [Check] holds a module to the contract, [Measure] says what it
// costs.
//
// Modules run as they do in a host, metered and within their limits, but each
// instance is held alone, so that what one call leaves behind can be told from
// what another does.
package conformance
