// Package plugintest drives a provider as plain Go, without Wasm: through the
// same bytes that cross in a module, so that what holds here holds there.
//
// A provider's whole test may be
//
//	func TestCases(t *testing.T) {
//		plugintest.RunCases(t, plugintest.New(&myProvider{}), "testdata")
//	}
//
// with a file for each case; see [response.ReadCases] for its form. [RunBad] breaks those
// streams in all ways, [FuzzStream] in any; [Chat] makes requests to put through
// Encode.
package plugintest
