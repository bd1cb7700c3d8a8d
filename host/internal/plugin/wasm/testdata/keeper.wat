;; keeper remembers: it adds up the lengths of its inputs. "!" traps, "?" never
;; ends.
(module $keeper
  (memory (export "memory") 1 1)
  (global $total (mut i32) (i32.const 0))
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32) (i32.const 1024))
  (func $observe (export "parley_observe") (param $len i32) (result i32)
    (if (i32.eq (i32.load8_u (i32.const 1024)) (i32.const 33)) (then unreachable))
    (if (i32.eq (i32.load8_u (i32.const 1024)) (i32.const 63)) (then (loop $forever (br $forever))))
    (global.set $total (i32.add (global.get $total) (local.get $len)))
    (global.get $total))
  (func (export "parley_save") (result i64)
    (i32.store (i32.const 16) (global.get $total))
    (i64.const 0x1000000004))
  (func (export "parley_flush") (param $len i32) (result i64)
    (i32.store (i32.const 16) (i32.add (global.get $total) (local.get $len)))
    (i64.const 0x1000000004)))
