package search

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search/embed"
)

// vectorsField is where a document brings its vectors, and shows them. It is
// not kept with the document.
const vectorsField = "_vectors"

// maxVectors bounds a document's vectors of one embedder.
const maxVectors = 256

// A vectorSet is the vectors of one embedder's name in an index.
type vectorSet struct {
	ID         uint32 // that they are kept under, see [DB]
	Dimensions int    // of each
}

// docVectors are a document's vectors of one embedder.
type docVectors struct {
	seq uint64 // the document's
	// made: by the embedder, and to be made anew when text, the hash of what
	// they were made of, changes. Else they are as a client gave them.
	made    bool
	text    uint64
	vectors [][]float32 // maybe none: the document is not to have any
}

// vectorsForm is the first byte of a kept docVectors, so that it can change.
const vectorsForm = 1

// encode returns v as the database keeps it: form, made, seq, text, number of
// vectors and of their dimensions, then the numbers; little-endian.
func (v *docVectors) encode() []byte {
	dims := 0
	if len(v.vectors) > 0 {
		dims = len(v.vectors[0])
	}
	b := make([]byte, 2, vectorsHead+4*dims*len(v.vectors))
	b[0] = vectorsForm
	if v.made {
		b[1] = 1
	}
	b = binary.LittleEndian.AppendUint64(b, v.seq)
	b = binary.LittleEndian.AppendUint64(b, v.text)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(v.vectors)))
	b = binary.LittleEndian.AppendUint32(b, uint32(dims))
	for _, vec := range v.vectors {
		for _, x := range vec {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	return b
}

// vectorsHead is the length of what stands before the numbers.
const vectorsHead = 2 + 8 + 8 + 2 + 4

// decodeVectors reads what encode wrote.
func decodeVectors(b []byte) (*docVectors, error) {
	if len(b) < vectorsHead || b[0] != vectorsForm {
		return nil, errors.New("vectors of an unknown form")
	}
	v := &docVectors{made: b[1] == 1, seq: binary.LittleEndian.Uint64(b[2:]), text: binary.LittleEndian.Uint64(b[10:])}
	n, dims := int(binary.LittleEndian.Uint16(b[18:])), int(binary.LittleEndian.Uint32(b[20:]))
	if b = b[vectorsHead:]; len(b) != 4*n*dims {
		return nil, fmt.Errorf("%d vectors of %d numbers have %d bytes", n, dims, len(b))
	}
	for range n {
		vec := make([]float32, dims)
		for i := range vec {
			vec[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		v.vectors = append(v.vectors, vec)
		b = b[4*dims:]
	}
	return v, nil
}

// appendJSON appends v as a client sees it.
func (v *docVectors) appendJSON(b []byte) []byte {
	b = append(b, `{"embeddings":[`...)
	for i, vec := range v.vectors {
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
	return append(strconv.AppendBool(b, v.made), '}')
}

// givenVectors are what a document brings for one embedder.
type givenVectors struct {
	none       bool // null: the document is not to have any
	regenerate bool // the embedder is to make them, when the document changes
	vectors    [][]float32
}

// takeVectors takes the vectors out of a document; given is nil where it brings
// none. A mistake is an [apierr.Error] without its place.
func takeVectors(doc []byte) (rest []byte, given map[string]*givenVectors, err error) {
	if !bytes.Contains(doc, []byte(vectorsField)) {
		return doc, nil, nil
	}
	var raw []byte
	rest = append(make([]byte, 0, len(doc)), '{')
	eachMember(doc, func(key, v []byte) bool {
		if unquote(key) == vectorsField {
			raw = v
			return true
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, key...), ':'), v...)
		return true
	})
	rest = append(rest, '}')
	if raw == nil || raw[0] == 'n' {
		return rest, nil, nil
	}
	if raw[0] != '{' {
		return nil, nil, apierr.Newf(apierr.InvalidVectorsType, "its `%s` is %s; expected an object of vectors by embedder", vectorsField, jsonType(raw))
	}
	given = map[string]*givenVectors{}
	eachMember(raw, func(key, v []byte) bool {
		name := unquote(key)
		if name == "" || len(name) > maxName {
			err = apierr.Newf(apierr.InvalidVectorsType, "its `%s` has the key %.100q, which is no embedder's name", vectorsField, name)
			return false
		}
		given[name], err = readGiven(name, v)
		return err == nil
	})
	return rest, given, err
}

// readGiven reads what stands beside one embedder's name: null, a vector, a
// list of them, or an object {embeddings, regenerate}.
func readGiven(name string, v []byte) (*givenVectors, error) {
	place := fmt.Sprintf("%s.%.100s", vectorsField, name)
	switch v[0] {
	case 'n':
		return &givenVectors{none: true}, nil
	case '[':
		vs, err := readVectors(place, v)
		return &givenVectors{vectors: vs}, err
	case '{':
	default:
		return nil, apierr.Newf(apierr.InvalidVectorsType, "its `%s` is %s; expected a vector, a list of vectors, or an object with `regenerate`", place, jsonType(v))
	}
	var g givenVectors
	var err error
	regenerates := false
	eachMember(v, func(key, v []byte) bool {
		switch k := unquote(key); {
		case k == "embeddings" && v[0] == 'n':
		case k == "embeddings":
			g.vectors, err = readVectors(place+".embeddings", v)
		case k == "regenerate" && (v[0] == 't' || v[0] == 'f'):
			g.regenerate, regenerates = v[0] == 't', true
		case k == "regenerate":
			err = apierr.Newf(apierr.InvalidVectorsType, "its `%s.regenerate` is %s; expected true or false", place, jsonType(v))
		default:
			err = apierr.Newf(apierr.InvalidVectorsType, "its `%s` has the unknown field `%.100s`; known are `embeddings` and `regenerate`", place, k)
		}
		return err == nil
	})
	if err == nil && !regenerates {
		err = apierr.Newf(apierr.InvalidVectorsType, "its `%s` has no `regenerate`: send true to have its vectors made by the embedder, false to give them yourself", place)
	}
	return &g, err
}

// readVectors reads an array of numbers, or an array of such arrays.
func readVectors(place string, v []byte) (list [][]float32, err error) {
	if v[0] != '[' {
		return nil, apierr.Newf(apierr.InvalidVectorsType, "its `%s` is %s; expected an array", place, jsonType(v))
	}
	first := v[skipSpace(v, 1)]
	if first == ']' {
		return nil, nil
	}
	if first != '[' {
		vec, err := readVector(place, v)
		return [][]float32{vec}, err
	}
	eachElement(v, func(_ int, e []byte) bool {
		if len(list) == maxVectors {
			err = apierr.Newf(apierr.TooManyVectors, "its `%s` has more than %d vectors", place, maxVectors)
			return false
		}
		var vec []float32
		vec, err = readVector(fmt.Sprintf("%s[%d]", place, len(list)), e)
		list = append(list, vec)
		return err == nil
	})
	return list, err
}

func readVector(place string, v []byte) ([]float32, error) {
	vec, err := embed.Vector(json.RawMessage(v))
	if err != nil {
		return nil, apierr.Newf(apierr.InvalidVectorsType, "its `%s` %s", place, err)
	}
	return vec, nil
}

// checkDimensions checks that a document's vectors are of dims numbers.
func checkDimensions(name string, vectors [][]float32, dims int) error {
	for _, v := range vectors {
		if len(v) != dims {
			return apierr.Newf(apierr.InvalidVectorDimensions, "its `%s.%.100s` has a vector of %d numbers; expected %d", vectorsField, name, len(v), dims)
		}
	}
	return nil
}
