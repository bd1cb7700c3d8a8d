package pluginapi

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

// uploads bound the files of plugins that are read at a time: each is in memory whole.
func uploads() *request.Slots {
	return request.NewSlots(request.SlotBounds{Running: 2, RunningOfKey: 1, Joined: 16, JoinedOfKey: 4, Patience: 2 * time.Minute})
}

// The parts of a form that brings a plugin.
const (
	partPlugin    = "plugin"
	partSignature = "signature"
)

// A sent plugin is what a form brought.
type sent struct {
	name              string // of the file, as the client has it, for messages
	module, signature []byte
}

// withFile reads the plugin of a form and has use do what the request wants of it.
// What the request may not do is refused before a byte of it is read.
func (s *Server) withFile(r *request.Call, use func(Installer, *deploy.Fetched) error) error {
	in, err := s.installer()
	if err != nil {
		return err
	}
	slot, err := s.uploads.Join(r.Caller.Key())
	if err != nil {
		return err
	}
	defer slot.Leave()
	return r.SpoolForm(slot, func(form *multipart.Reader) error {
		file, err := readForm(r, form)
		if err != nil {
			return err
		}
		f, err := in.Take(file.name, file.module, file.signature)
		if err != nil {
			return notChanged(err)
		}
		return use(in, f)
	})
}

// readForm reads the parts of form that are known.
func readForm(r *request.Call, form *multipart.Reader) (*sent, error) {
	var file sent
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, request.FormError(err)
		}
		into, most := &file.module, deploy.MaxModule
		switch part.FormName() {
		case partPlugin:
			file.name = strings.Trim(fmt.Sprintf("%.100q", cmp.Or(part.FileName(), "the file sent")), `"`)
		case partSignature:
			into, most = &file.signature, deploy.MaxSignature
		default:
			return nil, apierr.Newf(apierr.BadRequest, "The form has a part `%.64s`: `%s` is the .wasm file and `%s` its .minisig file; all else goes into the query.", part.FormName(), partPlugin, partSignature)
		}
		if *into != nil {
			return nil, apierr.Newf(apierr.BadRequest, "The form has the part `%s` twice: send one plugin at a time.", part.FormName())
		}
		if *into, err = io.ReadAll(r.Lent(io.LimitReader(part, int64(most)+1))); err != nil {
			return nil, request.FormError(err)
		}
		if len(*into) > most {
			return nil, apierr.Newf(apierr.PayloadTooLarge, "The part `%s` is over %d bytes: that is more than any plugin or signature has.", part.FormName(), most)
		}
	}
	if len(file.module) == 0 {
		return nil, apierr.Newf(apierr.MissingPayload, "The form has no file: send the plugin's .wasm file as the part `%s`.", partPlugin)
	}
	return &file, nil
}

// InstallFile answers POST /plugins/install/file: what is sent is installed as by a
// source that can be downloaded.
func (s *Server) InstallFile(r *request.Call) error {
	var o deploy.InstallOptions
	for _, wish := range []struct {
		name string
		into *bool
	}{{"grant", &o.Grant}, {"takeSource", &o.TakeSource}, {"beside", &o.Beside}} {
		given, err := r.Query.Boolean(wish.name, apierr.BadRequest)
		if err != nil {
			return err
		}
		*wish.into = given
	}
	sha256 := r.Query["sha256"]
	if err := checkHash(sha256); err != nil {
		return notChanged(err)
	}
	return s.withFile(r, func(in Installer, f *deploy.Fetched) error {
		err := expect(f, sha256)
		if err != nil {
			return notChanged(err)
		}
		c, err := in.Install(r.Base, f, o)
		return s.run(r, c, err)
	})
}

// CompareFile answers POST /plugins/diff/file. It changes nothing.
func (s *Server) CompareFile(r *request.Call) error {
	return s.withFile(r, func(in Installer, f *deploy.Fetched) error {
		p, err := in.PreviewFetched(f)
		if err != nil {
			return notChanged(err)
		}
		return r.OK(p)
	})
}
