// Command sbom writes what a Go program is made of as CycloneDX 1.5, to
// standard output:
//
//	go run ./.ci/sbom PROGRAM
//
// It says what the linker noted in the program: no more, and the same each time.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
)

type (
	bom struct {
		Format     string      `json:"bomFormat"`
		Spec       string      `json:"specVersion"`
		Version    int         `json:"version"`
		Metadata   metadata    `json:"metadata"`
		Components []component `json:"components"`
	}
	metadata struct {
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		PURL       string     `json:"purl"`
		Properties []property `json:"properties,omitempty"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the path of one program")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("read %s: %w", args[0], err)
	}
	out := bom{Format: "CycloneDX", Spec: "1.5", Version: 1, Metadata: metadata{moduleOf(info.Main, "application")}}
	for _, s := range info.Settings {
		out.Metadata.Component.Properties = append(out.Metadata.Component.Properties, property{"build:" + s.Key, s.Value})
	}
	std := component{Type: "library", Name: "std", Version: info.GoVersion, PURL: "pkg:golang/std@" + info.GoVersion}
	std.Ref = std.PURL
	out.Components = append(out.Components, std)
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		out.Components = append(out.Components, moduleOf(*d, "library"))
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

// moduleOf describes a module, with the sum that go.sum holds of it.
func moduleOf(m debug.Module, kind string) component {
	c := component{Type: kind, Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version}
	c.Ref = c.PURL
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}
