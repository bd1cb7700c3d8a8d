package httpapi

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// The body of a request that a node vouches for is sent in frames, each with a code, so that
// nobody on the way changes, adds or leaves out anything:
//
//	u32 length | code, 32 bytes of hexadecimal | data of that length
//
// The last frame is the first that is empty. A code is of the voucher's, the number of the
// frame and its data.
const (
	frameData = 64 << 10 // at most
	frameHead = 4 + 32
)

// frameParts is what the code of frame n is of.
func (v *voucher) frameParts(n uint64, data []byte) string {
	return fmt.Sprintf("frame\n%s\n%d\n%x", v.code, n, sha256.Sum256(data))
}

// A framer reads a body as frames.
type framer struct {
	cluster Cluster
	voucher *voucher
	body    io.Reader
	n       uint64
	data    []byte // of a frame
	frame   []byte // what is left of it
	ended   bool
}

func (s *Server) frameBody(v *voucher, body io.Reader) io.Reader {
	return &framer{cluster: s.Cluster, voucher: v, body: body, data: make([]byte, frameData)}
}

// Read implements [io.Reader].
func (f *framer) Read(p []byte) (int, error) {
	if len(f.frame) == 0 {
		if f.ended {
			return 0, io.EOF
		}
		n, err := f.body.Read(f.data)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if n == 0 && err == nil {
			return 0, nil
		}
		f.ended = n == 0
		f.frame = append(f.frame[:0], binary.BigEndian.AppendUint32(nil, uint32(n))...)
		f.frame = append(f.frame, f.cluster.Vouch(f.voucher.frameParts(f.n, f.data[:n]))...)
		f.frame = append(f.frame, f.data[:n]...)
		f.n++
	}
	n := copy(p, f.frame)
	f.frame = f.frame[n:]
	return n, nil
}

// An unframer reads the body of frames.
type unframer struct {
	cluster Cluster
	voucher *voucher
	frames  *bufio.Reader
	n       uint64
	data    []byte // what is left of a frame
	ended   bool
}

func (s *Server) unframeBody(v *voucher) func(io.Reader) io.Reader {
	return func(frames io.Reader) io.Reader {
		return &unframer{cluster: s.Cluster, voucher: v, frames: bufio.NewReader(frames)}
	}
}

// errFrames refuses a body that is not as the other node sent it.
var errFrames = apierr.Newf(apierr.InvalidAPIKey, "The body is not as the node of this cluster sent it that sent the request on: something between the nodes changed it.")

// Read implements [io.Reader].
func (u *unframer) Read(p []byte) (int, error) {
	for len(u.data) == 0 {
		if u.ended {
			return 0, io.EOF
		}
		var head [frameHead]byte
		if _, err := io.ReadFull(u.frames, head[:]); err != nil {
			return 0, tooShort(err)
		}
		length := binary.BigEndian.Uint32(head[:])
		if length > frameData {
			return 0, errFrames
		}
		data := make([]byte, length)
		if _, err := io.ReadFull(u.frames, data); err != nil {
			return 0, tooShort(err)
		}
		if !u.cluster.Vouched(string(head[4:]), u.voucher.frameParts(u.n, data)) {
			return 0, errFrames
		}
		u.n++
		u.data, u.ended = data, length == 0
	}
	n := copy(p, u.data)
	u.data = u.data[n:]
	return n, nil
}

// tooShort is the error of frames that end too early.
func tooShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errFrames
	}
	return err
}
