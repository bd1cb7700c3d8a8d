;; tablestorm grows a table without a maximum for as long as it may, and answers its size.
(module $tablestorm
  (memory (export "memory") 1)
  (table $t 1 funcref)
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32) (i32.const 4096))
  (func (export "parley_decode") (param $len i32) (result i64)
    (loop $more
      (br_if $more (i32.ge_s (table.grow $t (ref.null func) (i32.const 10000)) (i32.const 0))))
    (i32.store (i32.const 0) (table.size $t))
    (i64.const 4)))
