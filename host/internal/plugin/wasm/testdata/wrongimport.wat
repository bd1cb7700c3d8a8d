;; wrongimport imports a function of the host in another form.
(module $wrongimport
  (import "parley" "log" (func (param i64)))
  (memory (export "memory") 1)
  (func (export "parley_abi") (result i32) (i32.const 1)))
