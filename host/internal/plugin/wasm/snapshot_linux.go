package wasm

import (
	"encoding/binary"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pagemap says of each page of this process what it is; see
// https://docs.kernel.org/admin-guide/mm/pagemap.html. An error stays.
var pagemap = sync.OnceValues(func() (*os.File, error) { return os.Open("/proc/self/pagemap") })

// ownPages finds pages for one caller at a time.
type ownPages struct {
	runs    [64]run
	regions [64]scanRegion
	scan    scanArguments
	entries [4 << 10]byte
}

// find returns the first runs of pages from at on that are block's own; what
// lies from next on was not looked at.
func (o *ownPages) find(w way, block []byte, at int) (runs []run, next int, err error) {
	f, err := pagemap()
	if err != nil {
		return nil, 0, err
	}
	if w == wayScan {
		return o.findByScan(f, block, at)
	}
	return o.findByRead(f, block, at)
}

// scanArguments is struct pm_scan_arg of linux/fs.h.
type scanArguments struct {
	size, flags, start, end, walkEnd, regions, regionsLen, maxPages uint64
	inverted, all, any, reported                                    uint64
}

// scanRegion is struct page_region.
type scanRegion struct{ start, end, _ uint64 } // the last: what its pages are

// The number of the request, of Linux 6.7 and later on most processors, and
// what a page may be.
const (
	pagemapScan = 0xc0606610
	pageFile    = 1 << 2
	pagePresent = 1 << 3
	pageSwapped = 1 << 4
)

func (o *ownPages) findByScan(f *os.File, block []byte, at int) (runs []run, next int, err error) {
	base := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(block))))
	o.scan = scanArguments{
		size: uint64(unsafe.Sizeof(o.scan)), start: base + uint64(at), end: base + uint64(len(block)),
		regions: uint64(uintptr(unsafe.Pointer(&o.regions))), regionsLen: uint64(len(o.regions)),
		// Not of the file, and in memory or swapped out.
		inverted: pageFile, all: pageFile, any: pagePresent | pageSwapped,
	}
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), pagemapScan, uintptr(unsafe.Pointer(&o.scan)))
	if errno != 0 {
		return nil, 0, errno
	}
	for k, r := range o.regions[:n] {
		o.runs[k] = run{int(r.start - base), int(r.end - base)}
	}
	return o.runs[:n], int(o.scan.walkEnd - base), nil
}

// findByRead reads eight bytes for each page.
func (o *ownPages) findByRead(f *os.File, block []byte, at int) (runs []run, next int, err error) {
	const file, swapped, present = 1 << 61, 1 << 62, 1 << 63
	page := os.Getpagesize()
	entries := o.entries[:min(len(o.entries), (len(block)-at)/page*8)]
	base := uintptr(unsafe.Pointer(unsafe.SliceData(block)))
	if _, err := f.ReadAt(entries, int64(base+uintptr(at))/int64(page)*8); err != nil {
		return nil, 0, err
	}
	n := 0
	for ; len(entries) > 0; entries, at = entries[8:], at+page {
		e := binary.NativeEndian.Uint64(entries)
		switch {
		case e&(present|swapped) == 0 || e&file != 0:
		case n > 0 && o.runs[n-1].end == at:
			o.runs[n-1].end += page
		case n == len(o.runs):
			return o.runs[:n], at, nil
		default:
			o.runs[n] = run{at, at + page}
			n++
		}
	}
	return o.runs[:n], at, nil
}

// discard has block, over which f is mapped, be f's again.
func discard(block []byte, _ *os.File) error { return unix.Madvise(block, unix.MADV_DONTNEED) }
