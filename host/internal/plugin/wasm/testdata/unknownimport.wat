;; unknownimport imports a function that the host does not have.
(module $unknownimport
  (import "env" "read_file" (func (param i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "parley_abi") (result i32) (i32.const 1)))
