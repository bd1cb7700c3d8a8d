package host

import "testing"

func TestOfTask(t *testing.T) {
	for report, want := range map[string]bool{
		"":                          false,
		"SIGQUIT: quit\nPC=0x1\n\n": false,
		"SIGQUIT: quit\nPC=0x1 m=0 sigcode=0\n\ngoroutine 7 gp=0x1 m=0 [running]:\nexample.com/host/internal/task.(*Queue).process(0x1)\n":                                                                                         false,
		"panic: x\n\ngoroutine 7 [running]:\nexample.com/host/internal/task.(*Queue).process(0x1)\n\t/x.go:1\n\ngoroutine 8 [running]:\nother.F()\n":                                                                               true,
		"fatal error: x\n\nruntime stack:\nruntime.throw()\n\ngoroutine 9 gp=0x1 m=2 [running]:\ngithub.com/blevesearch/zapx/v16.merge()\n":                                                                                        true,
		"panic: x\n\ngoroutine 7 [running]:\ngithub.com/dgraph-io/badger/v4.(*levelsController).runCompactor()\n\ngoroutine 1 [select]:\nexample.com/host/internal/task.(*Queue).Run(0x1)\n":                                       false,
		"panic: x\n\ngoroutine 7 [running]:\nexample.com/host/internal/search/bleveindex.(*View).term()\n\t/x.go:1\nexample.com/host/internal/api/httpapi.(*Server).handle()\n\t/x.go:2\ncreated by x in goroutine 1\n\t/x.go:3\n": false,
	} {
		if got := ofTask(report); got != want {
			t.Errorf("ofTask(%q) = %v, want %v", report, got, want)
		}
	}
}
