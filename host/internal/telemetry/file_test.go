package telemetry

import (
	"os"
	"path/filepath"
	"testing"
)

//parley:option telemetry-file
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sent.ndjson")
	f, err := OpenFile(path, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{`{"a":1}`, `{"a":2}`, `{"a":3}`, `{"a":4}`, `{"a":5}`, `{"a":6}`, `{"a":7}`} {
		if err := f.Write([]Message{{Body: []byte(body)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Write([]Message{{Body: []byte("x")}}); err == nil {
		t.Error("Write after Close: no error")
	}
	for name, want := range map[string]string{"": "{\"a\":7}\n", ".1": "{\"a\":5}\n{\"a\":6}\n", ".2": "{\"a\":3}\n{\"a\":4}\n"} {
		if got, err := os.ReadFile(path + name); string(got) != want || err != nil {
			t.Errorf("%s holds %q, %v, want %q", filepath.Base(path+name), got, err, want)
		}
	}
	if f, err = OpenFile(path, 20); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Write([]Message{{Body: []byte(`{"a":8}`)}}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "{\"a\":7}\n{\"a\":8}\n" {
		t.Errorf("the file holds %q after it was opened again, want 7 and 8", got)
	}
}
