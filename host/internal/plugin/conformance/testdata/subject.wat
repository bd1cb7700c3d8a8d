;; subject is a provider without a network that keeps the contract as long as
;; the byte at address 16 is "0". Another one makes it break one rule: the tests
;; write it into the module, and say in their table which.
(module $subject
  (memory (export "memory") 1)
  (data (i32.const 16) "0mode")
  (data (i32.const 32) "{\"reply\":\"hello\"}                              ")
  (data (i32.const 128) "{\"kind\":\"upstream\",\"message\":\"\"}")
  (data (i32.const 256) "\01\00\00\00malformed")
  (data (i32.const 300) "\01\00\00\00\05\00\00\00hello") ;; text
  (data (i32.const 320) "\06\00\00\00\04\00\00\00stop") ;; finish
  (data (i32.const 340) "\01\00\02\00\01\00\00\00x") ;; text, a reserved byte set
  (data (i32.const 360) "\0d\00\00\00\16\00\00\00\01\01\00\00\00\00\00\00\00\00\00\00\01\00\00\00\01\00\00\00\22\22") ;; a pattern: any string is text
  (global $calls (mut i32) (i32.const 0))
  (global $region (mut i32) (i32.const 200000))
  (global $out (mut i32) (i32.const 512))

  (func $mode (param $m i32) (result i32)
    (i32.eq (i32.load8_u (i32.const 16)) (local.get $m)))

  (func $span (param $at i32) (param $len i32) (result i64)
    (i64.or (i64.shl (i64.extend_i32_u (local.get $at)) (i64.const 32)) (i64.extend_i32_u (local.get $len))))

  (func $put (param $at i32) (param $len i32)
    (memory.copy (global.get $out) (local.get $at) (local.get $len))
    (global.set $out (i32.add (global.get $out) (local.get $len))))

  (func (export "parley_abi") (result i32)
    (if (result i32) (call $mode (i32.const 0x41)) ;; A: of another version
      (then (i32.const 2))
      (else (i32.const 1))))

  (func (export "parley_input") (param $size i32) (result i32)
    (local $pages i32)
    (if (i32.and (call $mode (i32.const 0x52)) (i32.gt_u (local.get $size) (i32.const 0x20000))) ;; R: refuses
      (then (return (i32.const 0))))
    (if (call $mode (i32.const 0x4d)) ;; M: moves for less
      (then (global.set $region (select (i32.const 8192) (i32.const 200000) (i32.lt_u (local.get $size) (i32.const 4096))))))
    (local.set $pages (i32.sub
      (i32.add (i32.shr_u (i32.add (global.get $region) (local.get $size)) (i32.const 16)) (i32.const 1))
      (memory.size)))
    (if (i32.gt_s (local.get $pages) (i32.const 0))
      (then (if (i32.eq (memory.grow (local.get $pages)) (i32.const -1)) (then (return (i32.const 0))))))
    (global.get $region))

  (func (export "parley_encode") (param $len i32) (result i64)
    (if (i32.and (call $mode (i32.const 0x54)) (i32.eqz (local.get $len))) (then (unreachable))) ;; T: traps on nothing
    (if (i32.and (call $mode (i32.const 0x4c)) (i32.gt_u (local.get $len) (i32.const 0x20000))) (then (unreachable))) ;; L: traps on much
    (if (i32.eqz (local.get $len)) (then (return (call $span (i32.const 256) (i32.const 0x8000000d)))))
    (if (i32.ne (i32.load8_u (global.get $region)) (i32.const 0x7b))
      (then (return (call $span (i32.const 256) (i32.const 0x8000000d)))))
    (call $span (i32.const 32) (i32.const 46)))

  (func (export "parley_error") (param $len i32) (result i64)
    (if (call $mode (i32.const 0x45)) (then (return (call $span (i32.const 256) (i32.const 13))))) ;; E: no JSON
    (call $span (i32.const 128) (i32.const 32)))

  (func (export "parley_decode") (param $len i32) (result i64)
    (local $n i32) (local $flags i32) (local $spin i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (if (i32.lt_u (local.get $len) (i32.const 12))
      (then (return (call $span (i32.const 256) (i32.const 0x8000000d)))))
    (local.set $n (i32.load (global.get $region)))
    (if (i32.and (i32.eqz (call $mode (i32.const 0x47))) (i32.gt_u (local.get $n) (i32.sub (local.get $len) (i32.const 12)))) ;; G: follows any length
      (then (return (call $span (i32.const 256) (i32.const 0x8000000d)))))
    (local.set $flags (i32.load8_u (i32.add (i32.add (global.get $region) (i32.const 4)) (local.get $n))))
    (if (i32.and (call $mode (i32.const 0x46)) (i32.gt_u (local.get $flags) (i32.const 7))) ;; F: refuses new flags
      (then (return (call $span (i32.const 256) (i32.const 0x8000000d)))))
    (if (i32.and (call $mode (i32.const 0x57)) (i32.eqz (i32.rem_u (global.get $calls) (i32.const 16)))) ;; W: takes more and more memory
      (then (drop (memory.grow (i32.const 1)))))
    (if (call $mode (i32.const 0x53)) ;; S: slower and slower
      (then
        (local.set $spin (global.get $calls))
        (loop $more (br_if $more (local.tee $spin (i32.sub (local.get $spin) (i32.const 1)))))))
    (global.set $out (i32.const 512))
    (i32.store (global.get $out) (i32.const 0))
    (global.set $out (i32.const 516))
    (if (call $mode (i32.const 0x58)) ;; X: a state over the limit
      (then (return (block (result i64) (i32.store (i32.const 512) (i32.const 70000)) (call $span (i32.const 512) (i32.const 70004))))))
    (if (call $mode (i32.const 0x5a)) ;; Z: reserved bytes
      (then (call $put (i32.const 340) (i32.const 9))))
    (if (i32.and (local.get $flags) (i32.const 1)) (then (call $put (i32.const 300) (i32.const 13))))
    (if (call $mode (i32.const 0x4b)) ;; K: keeps count
      (then (i32.store8 (i32.sub (global.get $out) (i32.const 1)) (i32.add (i32.const 0x61) (i32.rem_u (global.get $calls) (i32.const 26))))))
    (if (i32.and (call $mode (i32.const 0x56)) (i32.ne (i32.and (local.get $flags) (i32.const 2)) (i32.const 0))) ;; V: text of an older input
      (then
        (call $put (i32.const 300) (i32.const 13))
        (memory.copy (i32.sub (global.get $out) (i32.const 5)) (i32.add (global.get $region) (i32.add (local.get $len) (i32.const 4))) (i32.const 5))))
    (if (i32.and (i32.eqz (call $mode (i32.const 0x4e))) (i32.ne (i32.and (local.get $flags) (i32.const 2)) (i32.const 0))) ;; N: never finishes
      (then (call $put (i32.const 320) (i32.const 12))))
    (if (i32.and (call $mode (i32.const 0x50)) (i32.ne (i32.and (local.get $flags) (i32.const 8)) (i32.const 0))) ;; P: tells a pattern
      (then (call $put (i32.const 360) (i32.const 30))))
    (if (call $mode (i32.const 0x44)) ;; D: text after the finish
      (then (call $put (i32.const 300) (i32.const 13))))
    (call $span (i32.const 512) (i32.sub (global.get $out) (i32.const 512)))))
