package store

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// memTable is how much is kept in memory before a table is made of it. Badger
// holds on to the buffers of eight tables, and that of a memtable's is three
// times as large as the memtable: with 16 MiB they were 400 MiB. A transaction
// takes 15 % of it.
const memTable = 4 << 20

// sized returns o with bounds on the memory of the database.
func sized(o badger.Options) badger.Options {
	return o.WithLogger(nil).WithMemTableSize(memTable).WithNumMemtables(2).
		WithBlockCacheSize(16 << 20).WithIndexCacheSize(16 << 20).WithNumCompactors(2).
		// Three documents' records fit into one transaction, whatever their size:
		// larger values go elsewhere.
		WithValueThreshold(memTable * 15 / 100 / 3).
		// The file of those values is mapped at twice this size, whatever is in it: at
		// Badger's 1 GiB a process with a bound on its addresses could not begin. A plugin of
		// 64 MiB has to fit.
		WithValueLogFileSize(72 << 20).
		// A table is built in buffers whose sizes double, for its records and once
		// more for them compressed: so it just fits into one, at each level.
		WithBaseTableSize(7 << 17).
		// From four on, tables of level 0 may be merged with each other, for which
		// Badger takes 256 MiB at once.
		WithNumLevelZeroTables(2).WithNumLevelZeroTablesStall(3).WithCompactL0OnClose(true)
}

// settleMemtables writes down the memtables that another build left when it was
// killed, where they are larger than ours: Badger panics over one that does not
// fit. Their files are twice as large as what they may hold.
func settleMemtables(o badger.Options) error {
	largest := int64(0)
	err := filepath.WalkDir(o.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".mem") {
			return nil // what cannot be read, Badger says better
		}
		if info, err := d.Info(); err == nil {
			largest = max(largest, info.Size())
		}
		return nil
	})
	if err != nil || o.InMemory || largest <= 2*memTable {
		return err
	}
	db, err := badger.Open(sized(o).WithMemTableSize(largest / 2))
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return fmt.Errorf("write down the newest changes: %w", err)
	}
	return nil
}
