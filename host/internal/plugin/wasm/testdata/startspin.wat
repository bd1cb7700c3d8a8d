;; startspin never comes out of its start.
(module $startspin
  (memory (export "memory") 1)
  (func (export "_initialize")
    (loop $forever (br $forever)))
  (func (export "parley_abi") (result i32) (i32.const 1)))
