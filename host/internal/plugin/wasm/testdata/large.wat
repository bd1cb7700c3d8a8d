;; large begins with 17 MiB of memory.
(module $large
  (memory (export "memory") 272)
  (func (export "parley_abi") (result i32) (i32.const 1)))
