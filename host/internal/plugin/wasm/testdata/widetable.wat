;; widetable begins with more entries than a table may have.
(module $widetable
  (memory (export "memory") 1)
  (table 200000 funcref)
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32) (i32.const 4096)))
