;; thieftable carries a few bits from call to call in all that cannot be set back:
;; tables, segments, and globals that are no numbers. Its calls are those of thief.
(module $thieftable
  (memory (export "memory") 1)
  (table $t 4 64 funcref)
  (table $u 4 64 funcref)
  (elem $e func $one $one)
  (data $d "12345678")
  (global $v (mut v128) (v128.const i64x2 0 0))
  (global $f (mut funcref) (ref.null func))
  (func $one)
  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32)
    (select (i32.const 4096) (i32.const 0) (i32.le_u (local.get $size) (i32.const 8192))))
  (func $count (param $n i32) (result i32) ;; entries of $t that are null
    (local $k i32)
    (loop $next
      (if (ref.is_null (table.get $t (local.get $k))) (then (local.set $n (i32.add (local.get $n) (i32.const 1)))))
      (br_if $next (i32.lt_u (local.tee $k (i32.add (local.get $k) (i32.const 1))) (i32.const 4))))
    (local.get $n))
  (func (export "parley_decode") (param $len i32) (result i64)
    (local $way i32)
    (local.set $way (i32.load16_u (i32.const 4096)))
    (i64.store (i32.const 60000) (i64.const 0))
    ;; s: table.set, f: table.fill, c: table.copy, i: table.init, o: table.grow
    (if (i32.eq (local.get $way) (i32.const 0x7773)) (then (table.set $t (i32.const 1) (ref.func $one))))
    (if (i32.eq (local.get $way) (i32.const 0x7766)) (then (table.fill $t (i32.const 0) (ref.func $one) (i32.const 2))))
    (if (i32.eq (local.get $way) (i32.const 0x7763)) (then
      (table.init $u $e (i32.const 0) (i32.const 0) (i32.const 2))
      (table.copy $t $u (i32.const 0) (i32.const 0) (i32.const 2))))
    (if (i32.eq (local.get $way) (i32.const 0x7769)) (then (table.init $t $e (i32.const 0) (i32.const 0) (i32.const 2))))
    (if (i32.eq (local.get $way) (i32.const 0x776f)) (then (drop (table.grow $t (ref.null func) (i32.const 3)))))
    (if (i32.eq (i32.and (local.get $way) (i32.const 0xff00)) (i32.const 0x7200)) (then
      (i32.store (i32.const 60000) (call $count (i32.const 0)))
      (i32.store8 (i32.const 60004) (table.size $t))))
    ;; e: elem.drop, d: data.drop
    (if (i32.eq (local.get $way) (i32.const 0x7765)) (then (elem.drop $e)))
    (if (i32.eq (local.get $way) (i32.const 0x7265)) (then (table.init $u $e (i32.const 0) (i32.const 0) (i32.const 2))))
    (if (i32.eq (local.get $way) (i32.const 0x7764)) (then (data.drop $d)))
    (if (i32.eq (local.get $way) (i32.const 0x7264)) (then (memory.init $d (i32.const 50000) (i32.const 0) (i32.const 8))))
    ;; v, r: globals of a vector and of a reference
    (if (i32.eq (local.get $way) (i32.const 0x7776)) (then (global.set $v (v128.load (i32.const 4098)))))
    (if (i32.eq (local.get $way) (i32.const 0x7276)) (then (v128.store (i32.const 60000) (global.get $v))))
    (if (i32.eq (local.get $way) (i32.const 0x7772)) (then (global.set $f (ref.func $one))))
    (if (i32.eq (local.get $way) (i32.const 0x7272)) (then (i32.store8 (i32.const 60005) (ref.is_null (global.get $f)))))
    (i64.const 0xea6000000008)))
