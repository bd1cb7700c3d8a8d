package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
)

// Field is where a document brings its vectors, and shows them. It is
// not kept with the document.
const Field = "_vectors"

// MaxVectors bounds a document's vectors of one embedder.
const MaxVectors = 256

// A StoredSet is the vectors of one embedder's name in an index.
type StoredSet struct {
	ID         uint32 // that they are kept under, see [DB]
	Dimensions int    // of each
}

// Document are a document's vectors of one embedder.
type Document struct {
	Seq uint64 // the document's
	// made: by the embedder, and to be made anew when text, the hash of what
	// they were made of, changes. Else they are as a client gave them.
	Made    bool
	Text    uint64
	Vectors [][]float32 // maybe none: the document is not to have any
}

// vectorsForm is the first byte of a kept Document, so that it can change.
const vectorsForm = 1

// Encode returns v as the database keeps it: form, made, seq, text, number of
// vectors and of their dimensions, then the numbers; little-endian.
func (v *Document) Encode() []byte {
	dims := 0
	if len(v.Vectors) > 0 {
		dims = len(v.Vectors[0])
	}
	b := make([]byte, 2, DecodeHead+4*dims*len(v.Vectors))
	b[0] = vectorsForm
	if v.Made {
		b[1] = 1
	}
	b = binary.LittleEndian.AppendUint64(b, v.Seq)
	b = binary.LittleEndian.AppendUint64(b, v.Text)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(v.Vectors)))
	b = binary.LittleEndian.AppendUint32(b, uint32(dims))
	for _, vec := range v.Vectors {
		for _, x := range vec {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	return b
}

// DecodeHead is the length of what stands before the numbers.
const DecodeHead = 2 + 8 + 8 + 2 + 4

// Decode reads what encode wrote.
func Decode(b []byte) (*Document, error) {
	if len(b) < DecodeHead || b[0] != vectorsForm {
		return nil, errors.New("vectors of an unknown form")
	}
	v := &Document{Made: b[1] == 1, Seq: binary.LittleEndian.Uint64(b[2:]), Text: binary.LittleEndian.Uint64(b[10:])}
	n, dims := int(binary.LittleEndian.Uint16(b[18:])), int(binary.LittleEndian.Uint32(b[20:]))
	if b = b[DecodeHead:]; len(b) != 4*n*dims {
		return nil, fmt.Errorf("%d vectors of %d numbers have %d bytes", n, dims, len(b))
	}
	for range n {
		vec := make([]float32, dims)
		for i := range vec {
			vec[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		v.Vectors = append(v.Vectors, vec)
		b = b[4*dims:]
	}
	return v, nil
}

// AppendJSON appends v as a client sees it.
func (v *Document) AppendJSON(b []byte) []byte {
	b = append(b, `{"embeddings":[`...)
	for i, vec := range v.Vectors {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		for j, x := range vec {
			if j > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
		}
		b = append(b, ']')
	}
	b = append(b, `],"regenerate":`...)
	return append(strconv.AppendBool(b, v.Made), '}')
}

// CheckDimensions checks that a document's vectors are of dims numbers.
func CheckDimensions(name string, vectors [][]float32, dims int) error {
	for _, v := range vectors {
		if len(v) != dims {
			return apierr.Newf(indexerr.InvalidVectorDimensions, "its `%s.%.100s` has a vector of %d numbers; expected %d", Field, name, len(v), dims)
		}
	}
	return nil
}
