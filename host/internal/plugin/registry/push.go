package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/errdef"
)

// An Image is a module that is to be published.
type Image struct {
	Module     []byte
	Signatures [][]byte
	// Annotations of the manifest, by their whole names.
	Annotations map[string]string
	// Created is a date in the manifest. The same image made at the same time has the
	// same digest; the zero value is the beginning of 1970, for who has no other.
	Created time.Time
	// Fixed says that the tag stands for this image for ever.
	Fixed bool
}

// ErrTagged is in the error about a tag that names another image.
var ErrTagged = errors.New("the tag names another image")

// Push publishes i under the tag of r, which is in a registry or in a layout that
// it makes where there is none. It returns the digest of the manifest. Done twice it
// changes nothing.
func (c *Client) Push(ctx context.Context, r Reference, i Image) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	if r.Tag == "" || r.Digest != "" {
		return "", fmt.Errorf("push %s: say which tag it gets, and no digest", r)
	}
	if int64(len(i.Module)) > c.MaxModule {
		return "", fmt.Errorf("push %s: %w", r, errTooLarge{c.MaxModule})
	}
	to, s, err := c.writable(ctx, r)
	if err != nil {
		return "", err
	}
	defer s.close()
	d, err := i.push(ctx, to, r)
	if err == nil && r.Layout != "" {
		err = sortLayout(r.Layout)
	}
	if err != nil {
		return "", s.explain(r, "push", err)
	}
	return d, nil
}

// writable opens the place of r to write to.
func (c *Client) writable(ctx context.Context, r Reference) (oras.Target, *store, error) {
	if r.Layout == "" {
		a, err := c.repository(r)
		if err != nil {
			return nil, nil, err
		}
		return a.Repository, &store{a.Repository, func() string { return a.user }, a.idle}, nil
	}
	layout, err := oci.NewWithContext(ctx, r.Layout)
	if err != nil {
		return nil, nil, fmt.Errorf("make the layout %s: %w", r, err)
	}
	return layout, &store{layout, func() string { return "" }, func() {}}, nil
}

func (i Image) push(ctx context.Context, to oras.Target, r Reference) (string, error) {
	module := ocispec.Descriptor{MediaType: typeModule, Digest: digest.FromBytes(i.Module), Size: int64(len(i.Module))}
	created := i.Created.UTC().Format(time.RFC3339)
	if i.Created.IsZero() {
		created = time.Unix(0, 0).UTC().Format(time.RFC3339)
	}
	config, err := json.Marshal(map[string]any{
		"created": created, "architecture": "wasm", "os": "wasip1", "layerDigests": []digest.Digest{module.Digest},
	})
	if err != nil {
		return "", err
	}
	annotations := map[string]string{ocispec.AnnotationCreated: created}
	maps.Copy(annotations, i.Annotations)
	configured := ocispec.Descriptor{MediaType: typeConfig, Digest: digest.FromBytes(config), Size: int64(len(config))}
	pack := func(to content.Pusher) (ocispec.Descriptor, error) {
		return oras.PackManifest(ctx, to, oras.PackManifestVersion1_1, "", oras.PackManifestOptions{
			Layers: []ocispec.Descriptor{module}, ConfigDescriptor: &configured, ManifestAnnotations: annotations,
		})
	}
	// What it would come to, before anything is sent.
	d, err := pack(discard{})
	if err != nil {
		return "", err
	}
	if there, err := to.Resolve(ctx, r.Tag); err == nil && there.Digest != d.Digest && i.Fixed {
		return "", fmt.Errorf("%w, %s, and this one is %s: a version is published once, so give the new one another version", ErrTagged, there.Digest, d.Digest)
	} else if err != nil && !errors.Is(err, errdef.ErrNotFound) {
		return "", err
	}
	if err := put(ctx, to, module, i.Module); err != nil {
		return "", fmt.Errorf("send the module: %w", err)
	}
	if err := put(ctx, to, configured, config); err != nil {
		return "", fmt.Errorf("send the config: %w", err)
	}
	if d, err = pack(to); err != nil {
		return "", fmt.Errorf("send the manifest: %w", err)
	}
	// Signatures before the tag: who finds the version by it finds them, too.
	for _, signature := range i.Signatures {
		if err := i.sign(ctx, to, d, created, signature); err != nil {
			return "", fmt.Errorf("send the signature: %w", err)
		}
	}
	if err := to.Tag(ctx, d, r.Tag); err != nil {
		return "", fmt.Errorf("send the tag: %w", err)
	}
	return d.Digest.String(), nil
}

// sign has signature refer to the image that d describes.
func (i Image) sign(ctx context.Context, to oras.Target, d ocispec.Descriptor, created string, signature []byte) error {
	layer := ocispec.Descriptor{MediaType: typeSignature, Digest: digest.FromBytes(signature), Size: int64(len(signature))}
	if err := put(ctx, to, layer, signature); err != nil {
		return err
	}
	_, err := oras.PackManifest(ctx, to, oras.PackManifestVersion1_1, typeSignature, oras.PackManifestOptions{
		Layers: []ocispec.Descriptor{layer}, Subject: &d, ManifestAnnotations: map[string]string{ocispec.AnnotationCreated: created},
	})
	return err
}

// put sends b, unless it is there.
func put(ctx context.Context, to oras.Target, d ocispec.Descriptor, b []byte) error {
	if there, err := to.Exists(ctx, d); err != nil || there {
		return err
	}
	err := to.Push(ctx, d, bytes.NewReader(b))
	if errors.Is(err, errdef.ErrAlreadyExists) {
		return nil
	}
	return err
}
