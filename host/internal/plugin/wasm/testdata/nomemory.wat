;; nomemory has no memory.
(module $nomemory
  (func (export "parley_abi") (result i32) (i32.const 1)))
