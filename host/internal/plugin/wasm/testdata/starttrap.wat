;; starttrap traps in its start.
(module $starttrap
  (memory (export "memory") 1)
  (func (export "_initialize")
    (unreachable))
  (func (export "parley_abi") (result i32) (i32.const 1)))
