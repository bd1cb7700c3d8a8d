// Command parley answers questions over your own documents with the LLM of
// your choice. Every provider is a sandboxed WebAssembly plugin.
package main

import (
	"os"

	_ "golang.org/x/crypto/x509roots/fallback" // certificate authorities where the system has none, as in an image of this program alone

	"github.com/parley-search/parley/host/cli"
)

//go:generate go run ../../host/cli/embed.go

func main() { os.Exit(cli.Main()) }
