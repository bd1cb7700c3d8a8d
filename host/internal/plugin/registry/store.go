package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/oci"
)

// A store is a repository or a layout.
type store struct {
	graph
	user  func() string // who signed in
	close func()
}

// A graph is what repositories and layouts have in common.
type graph interface {
	content.ReadOnlyGraphStorage
	content.Resolver
	Tags(ctx context.Context, last string, tell func(tags []string) error) error
}

// open opens the place of r to read from.
func (c *Client) open(r Reference) (*store, error) {
	if r.Layout == "" {
		a, err := c.repository(r)
		if err != nil {
			return nil, err
		}
		return &store{a.Repository, func() string { return a.user }, a.idle}, nil
	}
	root, err := os.OpenRoot(r.Layout)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r, err)
	}
	layout, err := oci.NewFromFS(context.Background(), boundedFS{root.FS(), c.MaxModule})
	s := &store{layout, func() string { return "" }, func() { _ = root.Close() }} // it was only read
	if err == nil {
		return s, nil
	}
	s.close()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: the folder %s is not an OCI image layout, which has the files oci-layout and index.json: `parley plugin save` writes one", r, r.Layout)
	}
	return nil, s.explain(r, "read the layout", err)
}

// sortLayout puts the index of the layout in folder in order, and removes what the
// writing left there: the same plugins make the same bytes.
func sortLayout(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	b, err := root.ReadFile(ocispec.ImageIndexFile)
	if err != nil {
		return err
	}
	var index ocispec.Index
	if err := json.Unmarshal(b, &index); err != nil {
		return err
	}
	slices.SortFunc(index.Manifests, func(a, b ocispec.Descriptor) int {
		name := ocispec.AnnotationRefName
		return cmp.Or(strings.Compare(a.Annotations[name], b.Annotations[name]), strings.Compare(string(a.Digest), string(b.Digest)))
	})
	if b, err = json.Marshal(index); err != nil {
		return err
	}
	part := ocispec.ImageIndexFile + ".part"
	if err := root.WriteFile(part, b, 0o644); err != nil {
		return err
	}
	_ = root.Remove("ingest") // where blobs are while they are written; it stays if there are any
	return root.Rename(part, ocispec.ImageIndexFile)
}

// boundedFS opens no file that is larger than most: a reader of layouts holds
// some of them in memory.
type boundedFS struct {
	fs.FS
	most int64
}

func (b boundedFS) Open(name string) (fs.File, error) {
	f, err := b.FS.Open(name)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	switch {
	case err != nil:
	case !st.IsDir() && !st.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	case st.Mode().IsRegular() && st.Size() > b.most:
		err = errTooLarge{b.most}
	default:
		return f, nil
	}
	return nil, errors.Join(&fs.PathError{Op: "open", Path: name, Err: err}, f.Close())
}
