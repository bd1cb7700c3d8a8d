;; echo answers what it was given; for an input that begins with "!" it declares error 7.
(module $echo
  (memory (export "memory") 1)
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32)
    (local $need i32)
    (local.set $need (i32.div_u (i32.add (local.get $size) (i32.const 69631)) (i32.const 65536)))
    (if (i32.gt_u (local.get $need) (memory.size))
      (then (if (i32.lt_s (memory.grow (i32.sub (local.get $need) (memory.size))) (i32.const 0)) (then (return (i32.const 0))))))
    (i32.const 4096))
  (func $echo (param $len i32) (result i64)
    (i64.or (i64.shl (i64.const 4096) (i64.const 32)) (i64.extend_i32_u (local.get $len))))
  (func (export "parley_decode") (param $len i32) (result i64)
    (if (result i64) (i32.eq (i32.load8_u (i32.const 4096)) (i32.const 33)) ;; "!"
      (then
        (i32.store (i32.const 0) (i32.const 7))
        (i32.store (i32.const 4) (i32.const 0x64616221)) ;; "!bad"
        (i64.const 0x80000008))
      (else (call $echo (local.get $len))))))
