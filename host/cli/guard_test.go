package cli

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// TestGuardTry gives texts to shipped guards by the command.
func TestGuardTry(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds plugins")
	}
	dir, env := outside(t)
	for _, tt := range []struct {
		args, text, out, errs string
		code                  int
	}{
		{"mask --stage question", "Mail ann@mail.example", "Mail <EMAIL_1>", "note: email\n", exitOK},
		{"topics --stage answer --option topics=merger", "No word. The merger is near.", "", "note: topic\nparley: blocked: This is not something", exitBlocked},
		{"nobody --stage answer", "x", "", `there is no guard "nobody"`, exitFailed},
		{"mask", "x", "", "--stage \"\" must be one of: question", exitUsage},
		{"mask --stage answer --option x", "x", "", "has no =", exitUsage},
	} {
		var out, errs bytes.Buffer
		cmd := command(dir, env, "sh", "-c", "parley guard try "+tt.args)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(tt.text), &out, &errs
		err := cmd.Run()
		code := 0
		if e, ok := err.(*exec.ExitError); ok {
			code = e.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if code != tt.code || !strings.HasPrefix(out.String(), tt.out) || tt.out == "" && tt.code != exitBlocked && out.Len() > 0 || !strings.Contains(errs.String(), tt.errs) {
			t.Errorf("%s: code %d, printed %q, said %q; want %d, %q, %q", tt.args, code, &out, &errs, tt.code, tt.out, tt.errs)
		}
	}
}
