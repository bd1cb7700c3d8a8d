;; counter is a collector of one metric, the number of chats. It keeps the
;; contract as long as the byte at address 16 is "0"; another one makes it break
;; one rule, as the tests' table says.
(module $counter
  (memory (export "memory") 1)
  (data (i32.const 16) "0mode")
  (data (i32.const 256) "\01\00\00\00malformed")
  (global $count (mut i64) (i64.const 0))
  (global $calls (mut i32) (i32.const 0))
  (global $region i32 (i32.const 4096))

  (func $mode (param $m i32) (result i32)
    (i32.eq (i32.load8_u (i32.const 16)) (local.get $m)))
  (func $span (param $at i32) (param $len i32) (result i64)
    (i64.or (i64.shl (i64.extend_i32_u (local.get $at)) (i64.const 32)) (i64.extend_i32_u (local.get $len))))

  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32)
    (local $pages i32)
    (local.set $pages (i32.sub
      (i32.add (i32.shr_u (i32.add (global.get $region) (local.get $size)) (i32.const 16)) (i32.const 1))
      (memory.size)))
    (if (i32.gt_s (local.get $pages) (i32.const 0))
      (then (if (i32.eq (memory.grow (local.get $pages)) (i32.const -1)) (then (return (i32.const 0))))))
    (global.get $region))

  (func (export "parley_observe") (param $len i32) (result i32)
    (local $at i32) (local $next i32) (local $n i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (if (i32.and (call $mode (i32.const 0x57)) (i32.eqz (i32.rem_u (global.get $calls) (i32.const 8)))) ;; W: takes more and more memory
      (then (drop (memory.grow (i32.const 1)))))
    (block $end
      (loop $record
        (br_if $end (i32.gt_u (i32.add (local.get $at) (i32.const 8)) (local.get $len)))
        (local.set $next (i32.add (i32.add (local.get $at) (i32.const 8))
          (i32.mul (i32.const 8) (i32.load16_u offset=2 (i32.add (global.get $region) (local.get $at))))))
        (if (call $mode (i32.const 0x47)) ;; G: follows any length
          (then (drop (i32.load (i32.add (global.get $region) (local.get $next)))))
          (else (br_if $end (i32.gt_u (local.get $next) (local.get $len)))))
        (if (i32.eq (i32.load16_u (i32.add (global.get $region) (local.get $at))) (i32.const 15))
          (then (global.set $count (i64.add (global.get $count) (i64.const 1))))
          (else (if (call $mode (i32.const 0x4e)) (then (local.set $n (i32.sub (local.get $n) (i32.const 1))))))) ;; N: does not take what it does not know
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (local.set $at (local.get $next))
        (br $record)))
    (if (result i32) (call $mode (i32.const 0x4d)) ;; M: says that it took more
      (then (i32.add (local.get $n) (i32.const 1)))
      (else (local.get $n))))

  (func (export "parley_flush") (param $len i32) (result i64)
    (local $flags i32)
    (if (i32.lt_u (local.get $len) (i32.const 4)) (then (return (call $span (i32.const 256) (i32.const 0x8000000d)))))
    (local.set $flags (i32.load (global.get $region)))
    (i64.store (i32.const 512) (i64.const 0x0000000100030000)) ;; metric 0, int, one word
    (i64.store (i32.const 520) (global.get $count))
    (i64.store (i32.const 528) (i64.const 0x0000000100030000))
    (i64.store (i32.const 536) (global.get $count))
    (if (i32.and (i32.and (local.get $flags) (i32.const 1)) (i32.eqz (call $mode (i32.const 0x52)))) ;; R: never forgets
      (then (global.set $count (i64.const 0))))
    (if (i32.and (call $mode (i32.const 0x46)) (i32.gt_u (local.get $flags) (i32.const 1))) ;; F: any flag ends the window
      (then (global.set $count (i64.const 0)) (i64.store (i32.const 520) (i64.const 0))))
    (if (call $mode (i32.const 0x51)) ;; Q: counts how often it is asked
      (then (global.set $count (i64.add (global.get $count) (i64.const 1)))))
    (if (call $mode (i32.const 0x4f)) (then (i64.store (i32.const 520) (i64.const -1)))) ;; O: out of range
    (if (call $mode (i32.const 0x41)) (then (return (i64.const 0)))) ;; A: no value of a metric that always has one
    (call $span (i32.const 512) (select (i32.const 32) (i32.const 16) (call $mode (i32.const 0x44))))) ;; D: a metric twice

  (func (export "parley_save") (result i64)
    (i32.store (i32.const 640) (i32.const 0x796c7270))
    (i64.store (i32.const 644) (global.get $count))
    (call $span (i32.const 640) (i32.const 12)))

  (func (export "parley_load") (param $len i32) (result i32)
    (if (call $mode (i32.const 0x4c)) (then (global.set $count (i64.const 0)))) ;; L: forgets before it looks
    (if (i32.ne (local.get $len) (i32.const 12)) (then (return (i32.const 0))))
    (if (i32.ne (i32.load (global.get $region)) (i32.const 0x796c7270)) (then (return (i32.const 0))))
    (global.set $count (i64.load offset=4 (global.get $region)))
    (i32.const 1)))
