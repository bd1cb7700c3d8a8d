// Command image writes the OCI image of a release, as a layout in a folder: the
// program and its plugins on nothing else, for each platform. It needs no Docker
// and no base image, and the same files give the same bytes.
//
//	go run ./.ci/image --out DIR --version V --plugins DIR [--push REF] linux/amd64=PROGRAM…
//
// With --push it is also written to a registry, such as
// registry.example.com/parley/parley:0.2.0, by docker's login.
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"
)

// user is whom the program runs as: nobody's, and not root's.
const user = 65532

const (
	dataDir    = "var/lib/parley"
	pluginDir  = "usr/lib/parley/plugins"
	programDir = "usr/bin"
)

func main() {
	out := flag.String("out", "", "folder of the layout; it must not exist")
	version := flag.String("version", "", "version of the program")
	plugins := flag.String("plugins", "", "plugin directory with its lock")
	push := flag.String("push", "", "name and tag in a registry; empty: none")
	flag.Parse()
	err := writeLayout(*out, *version, *plugins, flag.Args())
	if err == nil && *push != "" {
		err = pushLayout(context.Background(), *out, *version, *push)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// pushLayout copies the images of a layout to a registry, with the tag of to.
func pushLayout(ctx context.Context, dir, version, to string) error {
	from, err := oci.NewFromFS(ctx, os.DirFS(dir))
	if err != nil {
		return err
	}
	repository, err := remote.NewRepository(to)
	if err != nil {
		return fmt.Errorf("--push: %w", err)
	}
	logins, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return fmt.Errorf("read docker's logins: %w", err)
	}
	repository.Client = &auth.Client{Client: retry.DefaultClient, Cache: auth.NewCache(), Credential: credentials.Credential(logins)}
	host, _, _ := net.SplitHostPort(repository.Reference.Registry)
	repository.PlainHTTP = host == "localhost" || net.ParseIP(host).IsLoopback()
	pushed, err := oras.Copy(ctx, from, "parley:"+version, repository, repository.Reference.Reference, oras.DefaultCopyOptions)
	if err != nil {
		return fmt.Errorf("push %s: %w", to, err)
	}
	fmt.Printf("pushed %s@%s\n", to, pushed.Digest)
	return nil
}

// writeLayout writes an index of one image for each target, OS/ARCH=PROGRAM.
func writeLayout(out, version, plugins string, targets []string) error {
	if out == "" || version == "" || plugins == "" || len(targets) == 0 {
		return fmt.Errorf("want --out, --version, --plugins and OS/ARCH=PROGRAM")
	}
	epoch, err := strconv.ParseInt(cmp.Or(os.Getenv("SOURCE_DATE_EPOCH"), "0"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	built := time.Unix(epoch, 0).UTC()
	base, err := packLayer(built, func(w *layerWriter) error {
		// The program makes temporary files in the one, and keeps its data in the other.
		return cmp.Or(w.dir("tmp", 0o1777, 0), w.dir(dataDir, 0o700, user),
			w.file("etc/passwd", 0o644, []byte("parley:x:"+strconv.Itoa(user)+":"+strconv.Itoa(user)+":parley:/"+dataDir+":/sbin/nologin\n")),
			w.file("etc/group", 0o644, []byte("parley:x:"+strconv.Itoa(user)+":\n")))
	})
	if err != nil {
		return err
	}
	modules, err := packLayer(built, func(w *layerWriter) error { return w.tree(pluginDir, plugins) })
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, target := range targets {
		platform, file, ok := strings.Cut(target, "=")
		system, arch, ok2 := strings.Cut(platform, "/")
		if !ok || !ok2 {
			return fmt.Errorf("target %q: want OS/ARCH=PROGRAM", target)
		}
		image, err := packImage(built, version, system, arch, file, base, modules)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: system, Architecture: arch},
		}})
	}
	// What lists images of several platforms under one name is an index in an index.
	named := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add: index, Descriptor: v1.Descriptor{Annotations: map[string]string{"org.opencontainers.image.ref.name": "parley:" + version}},
	})
	if _, err := os.Stat(out); err == nil {
		return fmt.Errorf("%s exists: name a new folder", out)
	}
	_, err = layout.Write(out, named)
	return err
}

// packImage is the image of one platform. The plugins are a layer below the
// program, so that an upgrade of the program leaves it as it is.
func packImage(built time.Time, version, system, arch, file string, layers ...v1.Layer) (v1.Image, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	program, err := packLayer(built, func(w *layerWriter) error { return w.file(path.Join(programDir, "parley"), 0o755, b) })
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.AppendLayers(image, append(slices.Clone(layers), program)...); err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = system, arch, v1.Time{Time: built}
	config.Config = v1.Config{
		User:         fmt.Sprintf("%d:%d", user, user),
		WorkingDir:   "/" + dataDir,
		Entrypoint:   []string{"/" + programDir + "/parley"},
		Cmd:          []string{"serve"},
		ExposedPorts: map[string]struct{}{"7700/tcp": {}},
		Volumes:      map[string]struct{}{"/" + dataDir: {}},
		StopSignal:   "SIGTERM",
		Env: []string{
			"PARLEY_HTTP_ADDR=0.0.0.0:7700", "PARLEY_ENV=production", "PARLEY_DB_PATH=/" + dataDir + "/data",
			"PARLEY_DUMP_DIR=/" + dataDir + "/dumps", "PARLEY_SNAPSHOT_DIR=/" + dataDir + "/snapshots",
			"PARLEY_PLUGIN_DIR=/" + pluginDir, "PARLEY_PLUGIN_CACHE_DIR=/" + dataDir + "/compiled", "PARLEY_EXPERIMENTAL_LOGS_MODE=json",
		},
		Labels: map[string]string{
			"org.opencontainers.image.title": "parley", "org.opencontainers.image.version": version,
			"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": "https://github.com/parley-search/parley",
		},
	}
	return mutate.ConfigFile(image, config)
}

// packLayer is a layer of what fill writes, all of one date and of root's unless
// it says otherwise.
func packLayer(built time.Time, fill func(*layerWriter) error) (v1.Layer, error) {
	var b bytes.Buffer
	w := &layerWriter{tar: tar.NewWriter(&b), built: built, made: map[string]bool{}}
	if err := cmp.Or(fill(w), w.tar.Close()); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
}

// A layerWriter writes files and the folders above them.
type layerWriter struct {
	tar   *tar.Writer
	built time.Time
	made  map[string]bool
}

func (w *layerWriter) dir(name string, mode int64, owner int) error {
	if name == "." || w.made[name] {
		return nil
	}
	w.made[name] = true
	if err := w.dir(path.Dir(name), 0o755, 0); err != nil {
		return err
	}
	return w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode, Uid: owner, Gid: owner, ModTime: w.built})
}

func (w *layerWriter) file(name string, mode int64, text []byte) error {
	if err := w.dir(path.Dir(name), 0o755, 0); err != nil {
		return err
	}
	if err := w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(text)), ModTime: w.built}); err != nil {
		return err
	}
	_, err := w.tar.Write(text)
	return err
}

// tree writes the files of the folder from below the folder to.
func (w *layerWriter) tree(to, from string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return w.file(path.Join(to, filepath.ToSlash(rel)), 0o644, b)
	})
}
