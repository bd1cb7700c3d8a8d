package chatapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/chat"
)

// maxSealed bounds one text of ours, in bytes: no plugin leaves more.
const maxSealed = 2 << 20

// sealedFor is the place of what owner alone may send back.
func sealedFor(owner string) string { return "reasoning of " + owner }

// sealCarry is c as owner gets it: a line that says whose it is, and the plugin's
// bytes, sealed.
func (s *Server) sealCarry(owner string, c *chat.Carry) string {
	plain := append(append(request.Encode(c), '\n'), c.Bytes...)
	return chat.SealedMark + base64.RawURLEncoding.EncodeToString(s.Sealer.Seal(plain, sealedFor(owner)))
}

// openCarries opens what owner sent back of states. One of ours that does not open
// is an error, unless this host kept it.
func (s *Server) openCarries(owner string, states []openai.SealedState) ([]chat.Carry, error) {
	var carries []chat.Carry
	for _, state := range states {
		text, ours := strings.CutPrefix(state.Text, chat.SealedMark)
		if !ours { // another service's, which a conversation may have, too
			continue
		}
		c, ok := s.openCarry(owner, text)
		switch {
		case ok:
			carries = append(carries, c)
		case state.Param != "":
			return nil, &openai.Error{
				Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "invalid_encrypted_content", Param: state.Param,
				Message: "`" + state.Param + "` cannot be opened: it is damaged, or another host made it, or this one for another key. Leave it out; the answer then continues without the reasoning.",
			}
		}
	}
	return carries, nil
}

func (s *Server) openCarry(owner, text string) (c chat.Carry, ok bool) {
	if len(text) > maxSealed || s.Sealer == nil {
		return c, false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return c, false
	}
	plain, err := s.Sealer.Open(sealed, sealedFor(owner))
	if err != nil {
		return c, false
	}
	head, rest, _ := bytes.Cut(plain, []byte{'\n'})
	c.Bytes = rest
	return c, json.Unmarshal(head, &c) == nil
}

// sealMessages has the client of q send back in its messages what plugins want back with
// them, and opens what it has sent. What does not open is passed over.
func (s *Server) sealMessages(owner string, q *chat.Request) {
	if s.Sealer == nil {
		return
	}
	q.Seal = func(c *chat.Carry) string { return s.sealCarry(owner, c) }
	for _, text := range q.TakeSealed() {
		if c, ok := s.openCarry(owner, strings.TrimPrefix(text, chat.SealedMark)); ok {
			q.Carries = append(q.Carries, c)
		}
	}
}

// keepReasoning has w say of each turn of the answer what the next answer
// wants back of it, where the client asks for that or the host keeps it.
func (s *Server) keepReasoning(owner string, request *openai.ResponseRequest, w *openai.ResponseWriter) {
	kept := request.Store && s.Responses.Keeps()
	if s.Sealer == nil || !request.Sealed && !kept {
		return
	}
	w.Sealed = func(c *chat.Carry) (sealed string, needed bool) {
		needed = c.Needed()
		if needed || request.Sealed {
			sealed = s.sealCarry(owner, c)
		}
		return sealed, needed
	}
}
