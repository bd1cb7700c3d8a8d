;; mirror answers a decode call with the data of its one event, and every other
;; call with nothing.
(module $mirror
  (memory (export "memory") 2)
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32) (i32.const 4096))
  (func (export "parley_encode") (param $len i32) (result i64) (i64.const 0))
  (func (export "parley_decode") (param $len i32) (result i64)
    ;; no state, flags, one event, no type, its length: 20 bytes
    (i64.or (i64.shl (i64.const 4116) (i64.const 32)) (i64.extend_i32_u (i32.sub (local.get $len) (i32.const 20)))))
  (func (export "parley_error") (param $len i32) (result i64) (i64.const 0)))
