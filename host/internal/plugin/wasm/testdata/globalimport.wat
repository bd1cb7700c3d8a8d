;; globalimport imports a global under the name of a function.
(module $globalimport
  (import "parley" "log" (global i32))
  (memory (export "memory") 1)
  (func (export "parley_abi") (result i32) (i32.const 1)))
