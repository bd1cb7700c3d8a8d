package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry"
)

// Media types. The config is that of the CNCF's layout for Wasm; the second layer is
// what proxies have pulled since before there was one.
const (
	typeConfig    = "application/vnd.wasm.config.v0+json"
	typeModule    = "application/wasm"
	typeOldModule = "application/vnd.module.wasm.content.layer.v1+wasm"
	typeSignature = "application/vnd.parley.minisig"
)

// An Artifact is what a reference names.
type Artifact struct {
	Module []byte
	// Signatures are those of minisign that refer to it, at most 16, by
	// whatever keys.
	Signatures [][]byte
	// Digest is that of the manifest.
	Digest string
}

// Pull reads the module that r names, whole and as its digests say, and the
// signatures of it.
func (c *Client) Pull(ctx context.Context, r Reference) (*Artifact, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	s, err := c.open(r)
	if err != nil {
		return nil, err
	}
	defer s.close()
	a, err := s.pull(ctx, r, c.MaxModule)
	if err != nil {
		return nil, s.explain(r, "pull", err)
	}
	return a, nil
}

func (s *store) pull(ctx context.Context, r Reference, most int64) (*Artifact, error) {
	name, err := r.target()
	if err != nil {
		return nil, err
	}
	desc, err := s.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	layer, err := s.layer(ctx, desc)
	if err != nil {
		return nil, err
	}
	a := &Artifact{Digest: desc.Digest.String()}
	if a.Module, err = s.fetch(ctx, layer, most); err != nil {
		return nil, fmt.Errorf("the module %s: %w", layer.Digest, err)
	}
	a.Signatures, err = s.signatures(ctx, desc)
	return a, err
}

// fetch reads what d describes, which has at most most bytes.
func (s *store) fetch(ctx context.Context, d ocispec.Descriptor, most int64) ([]byte, error) {
	if d.Size > most {
		return nil, errTooLarge{most}
	}
	return content.FetchAll(ctx, s, d)
}

// layer finds the one layer of the manifest that d describes.
func (s *store) layer(ctx context.Context, d ocispec.Descriptor) (ocispec.Descriptor, error) {
	var m ocispec.Manifest
	if d.MediaType != ocispec.MediaTypeImageManifest {
		return ocispec.Descriptor{}, fmt.Errorf("it is of type %s, and a module has %s", cut(d.MediaType), ocispec.MediaTypeImageManifest)
	}
	b, err := s.fetch(ctx, d, maxManifest)
	if err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("the manifest %s: %w", d.Digest, err)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("the manifest %s is not JSON: %w", d.Digest, err)
	}
	if len(m.Layers) != 1 {
		return ocispec.Descriptor{}, fmt.Errorf("it has %d layers, and a module is the only layer of its image", len(m.Layers))
	}
	if t := m.Layers[0].MediaType; t != typeModule && t != typeOldModule {
		return ocispec.Descriptor{}, fmt.Errorf("its layer is of type %s, and a module's is %s", cut(t), typeModule)
	}
	return m.Layers[0], nil
}

// signatures reads those of the manifest that d describes.
func (s *store) signatures(ctx context.Context, d ocispec.Descriptor) (all [][]byte, err error) {
	found, err := registry.Referrers(ctx, s, d, typeSignature)
	if err != nil {
		return nil, fmt.Errorf("list the signatures: %w", err)
	}
	// A layout's lister finds referrers of all types.
	found = slices.DeleteFunc(found, func(r ocispec.Descriptor) bool { return r.ArtifactType != typeSignature })
	for _, r := range found[:min(len(found), maxSignatures)] {
		b, err := s.fetch(ctx, r, maxManifest)
		if err != nil {
			return nil, fmt.Errorf("the manifest of a signature, %s: %w", r.Digest, err)
		}
		var m ocispec.Manifest
		if err := json.Unmarshal(b, &m); err != nil || len(m.Layers) != 1 {
			return nil, fmt.Errorf("the manifest of a signature, %s, is not one with a layer", r.Digest)
		}
		signature, err := s.fetch(ctx, m.Layers[0], maxSignature)
		if err != nil {
			return nil, fmt.Errorf("a signature, %s: %w", m.Layers[0].Digest, err)
		}
		all = append(all, signature)
	}
	return all, nil
}

// Tags lists the tags of r's repository or layout, in no order.
func (c *Client) Tags(ctx context.Context, r Reference) (all []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	s, err := c.open(r)
	if err != nil {
		return nil, err
	}
	defer s.close()
	err = s.Tags(ctx, "", func(tags []string) error {
		all = append(all, tags...)
		return nil
	})
	if err != nil {
		return nil, s.explain(r, "list the tags", err)
	}
	return all, nil
}
