package logs

import (
	"io"
	"strings"
)

// Lines returns what takes text for people and writes each line of it as one of the log's.
func (h *Hub) Lines() io.Writer { return lines{h} }

type lines struct{ hub *Hub }

func (l lines) Write(p []byte) (int, error) {
	log := l.hub.Logger()
	for line := range strings.Lines(string(p)) {
		if line = strings.TrimPrefix(strings.TrimSpace(line), "parley: "); line != "" {
			log.Warn().Msg(line)
		}
	}
	return len(p), nil
}
