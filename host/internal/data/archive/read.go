package archive

import (
	"archive/tar"
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// A Stream is one of an archive.
type Stream struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Contents is what is in an archive.
type Contents struct {
	Head
	Streams []Stream `json:"streams"`
}

// Check reads the archive at path to its end. The error says what is wrong with
// a file that is none, is of a newer form, or is not whole.
func Check(path string) (*Contents, error) {
	var c Contents
	h, err := Read(path, func(name string, r io.Reader) error {
		n, err := io.Copy(io.Discard, r)
		c.Streams = append(c.Streams, Stream{name, n})
		return err
	})
	if err != nil {
		return nil, err
	}
	c.Head = *h
	return &c, nil
}

// Read calls each for every stream of the archive at path, in order; it must
// read each to its end. What it got is to be trusted only once Read has
// returned without an error: call [Check] before.
func Read(path string, each func(name string, r io.Reader) error) (*Head, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read archive: %w", err)
	}
	defer f.Close()
	h, err := read(f, each)
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", path, err)
	}
	return h, nil
}

var errCut = errors.New("it is not whole: it was cut off, or its writing never came to an end")

// errGzip is about what is compressed as Meilisearch compresses its dumps.
var errGzip = errors.New("it is a gzip archive, as dumps of Meilisearch are, and none of this program: a dump of Meilisearch is read by `parley dump restore` and --import-dump alone")

func read(f io.Reader, each func(name string, r io.Reader) error) (*Head, error) {
	start := bufio.NewReader(f)
	if magic, _ := start.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		return nil, errGzip
	}
	z, err := zstd.NewReader(start, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, fmt.Errorf("it is not an archive: %w", err)
	}
	defer z.Close()
	r := &reader{tar: tar.NewReader(z), sum: sha256.New()}
	var h Head
	name, body, err := r.next()
	if err == nil && (name != headEntry || json.Unmarshal(body, &h) != nil) {
		err = errors.New("it begins with something else")
	}
	if err != nil {
		return nil, fmt.Errorf("it is not an archive of this program: %w", err)
	}
	if h.Form != Form {
		return nil, fmt.Errorf("it is of form %d, and this program reads form %d: use the program of version %s, which made it", h.Form, Form, h.Version)
	}
	if err := r.advance(); err != nil {
		return nil, err
	}
	for r.name != endEntry {
		stream, _, ok := cutPiece(r.name)
		if !ok {
			return nil, fmt.Errorf("it has an entry %.60q, which belongs to no stream", r.name)
		}
		s := &streamReader{reader: r, name: stream}
		if err := each(stream, s); err != nil {
			return nil, err
		}
		if _, err := io.Copy(io.Discard, s); err != nil { // what each left
			return nil, err
		}
	}
	var e end
	if err := json.Unmarshal(r.body, &e); err != nil || e.SHA256 != hex.EncodeToString(r.before) {
		return nil, errors.New("it was altered: its sum is another one than its end says")
	}
	return &h, nil
}

// A reader goes through entries.
type reader struct {
	tar    *tar.Reader
	sum    hash.Hash
	before []byte // the sum before the entry at hand
	name   string // of the entry at hand, with its body
	body   []byte
}

func (r *reader) next() (string, []byte, error) {
	h, err := r.tar.Next()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "", nil, errCut
	}
	if err != nil {
		return "", nil, fmt.Errorf("it is damaged: %w", err)
	}
	if h.Size > maxPiece || len(h.Name) > 1<<10 {
		return "", nil, fmt.Errorf("it has an entry of %d bytes; there are none over %d", h.Size, maxPiece)
	}
	b, err := io.ReadAll(r.tar)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "", nil, errCut
	}
	if err != nil {
		return "", nil, fmt.Errorf("it is damaged: %w", err)
	}
	r.before = r.sum.Sum(nil)
	add(r.sum, h.Name, b)
	return h.Name, b, nil
}

func (r *reader) advance() (err error) {
	r.name, r.body, err = r.next()
	return err
}

// A streamReader joins the pieces of one stream.
type streamReader struct {
	*reader
	name string
}

func (s *streamReader) Read(p []byte) (int, error) {
	for {
		stream, _, ok := cutPiece(s.reader.name)
		if !ok || stream != s.name {
			return 0, io.EOF
		}
		if len(s.body) > 0 {
			n := copy(p, s.body)
			s.body = s.body[n:]
			return n, nil
		}
		if err := s.advance(); err != nil {
			return 0, err
		}
	}
}

// cutPiece splits the name of an entry into its stream's and its number.
func cutPiece(name string) (stream, number string, ok bool) {
	at := strings.LastIndexByte(name, '.')
	if at < 0 || len(name)-at != 7 {
		return "", "", false
	}
	return name[:at], name[at+1:], strings.Trim(name[at+1:], "0123456789") == ""
}
