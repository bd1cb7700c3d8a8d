;; outside answers with a span that ends one byte outside its memory.
(module $outside
  (memory (export "memory") 1)
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32)
    (i32.const 4096))
  (func $echo (param $len i32) (result i64)
    (i64.or (i64.shl (i64.const 4096) (i64.const 32)) (i64.extend_i32_u (local.get $len))))
  (func (export "parley_decode") (param $len i32) (result i64)
    (if (result i64) (i32.eq (i32.load8_u (i32.const 4096)) (i32.const 33)) ;; "!"
      (then
        (i64.const 0x0000ffff_00000002))
      (else (call $echo (local.get $len))))))
