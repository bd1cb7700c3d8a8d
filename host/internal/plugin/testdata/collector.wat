;; collector counts the events that it is given, as metric 0. An event network
;; with a number of remotes is an order to go wrong from then on:
;;
;;   1 trap          2 never end       3 grow until it is denied
;;   4 say that it took 1000 events    5 save 70,000 bytes
;;   6 answer load with 2
;;
;; and in flush:
;;
;;   11 trap           12 never end        13 a metric that there is not
;;   14 another tag    15 a huge length    16 the metric twice
;;   17 bits of NaN    18 another answer each time
;;   19 cut off        20 a declared error 21 outside of its memory
(module $collector
  (memory (export "memory") 4)
  (global $total (mut i64) (i64.const 0))
  (global $order (mut i32) (i32.const 0))

  (func (export "parley_abi") (result i32) (i32.const 1))
  (func (export "parley_input") (param $size i32) (result i32)
    (if (i32.gt_u (local.get $size) (i32.const 131072)) (then (return (i32.const 0))))
    (i32.const 131072))

  (func (export "parley_observe") (param $len i32) (result i32)
    (local $at i32) (local $end i32) (local $count i32)
    (local.set $at (i32.const 131072))
    (local.set $end (i32.add (local.get $at) (local.get $len)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (if (i32.eq (i32.load16_u (local.get $at)) (i32.const 13))
          (then (global.set $order (i32.load offset=16 (local.get $at)))))
        (local.set $at (i32.add (local.get $at)
          (i32.add (i32.const 8) (i32.shl (i32.load16_u offset=2 (local.get $at)) (i32.const 3)))))
        (local.set $count (i32.add (local.get $count) (i32.const 1)))
        (br $next)))
    (global.set $total (i64.add (global.get $total) (i64.extend_i32_u (local.get $count))))
    (if (i32.eq (global.get $order) (i32.const 1)) (then unreachable))
    (if (i32.eq (global.get $order) (i32.const 2)) (then (loop $forever (br $forever))))
    (if (i32.eq (global.get $order) (i32.const 3))
      (then (loop $more
        (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))
        unreachable)))
    (if (i32.eq (global.get $order) (i32.const 4)) (then (return (i32.const 1000))))
    (local.get $count))

  ;; record writes metric 0 as an int of the total, to an address.
  (func $record (param $at i32)
    (i32.store (local.get $at) (i32.const 0x00030000))
    (i32.store offset=4 (local.get $at) (i32.const 1))
    (i64.store offset=8 (local.get $at) (global.get $total)))

  (func (export "parley_flush") (param $len i32) (result i64)
    (local $size i64)
    (call $record (i32.const 1024))
    (call $record (i32.const 1040))
    (local.set $size (i64.const 16))
    (if (i32.eq (global.get $order) (i32.const 11)) (then unreachable))
    (if (i32.eq (global.get $order) (i32.const 12)) (then (loop $forever (br $forever))))
    (if (i32.eq (global.get $order) (i32.const 13)) (then (i32.store16 (i32.const 1024) (i32.const 500))))
    (if (i32.eq (global.get $order) (i32.const 14)) (then (i32.store8 offset=2 (i32.const 1024) (i32.const 2))))
    (if (i32.eq (global.get $order) (i32.const 15)) (then (i32.store offset=4 (i32.const 1024) (i32.const 0x20000000))))
    (if (i32.eq (global.get $order) (i32.const 16)) (then (local.set $size (i64.const 32))))
    (if (i32.eq (global.get $order) (i32.const 17)) (then (i64.store offset=8 (i32.const 1024) (i64.const 0x7ff8000000000001))))
    (if (i32.eq (global.get $order) (i32.const 18)) (then (global.set $total (i64.add (global.get $total) (i64.const 1)))))
    (if (i32.eq (global.get $order) (i32.const 19)) (then (local.set $size (i64.const 15))))
    (if (i32.eq (global.get $order) (i32.const 20)) (then (local.set $size (i64.const 0x80000010))))
    (if (i32.eq (global.get $order) (i32.const 21)) (then (return (i64.const 0x7fffffff00000010))))
    (if (i32.and (i32.load (i32.const 131072)) (i32.const 1))
      (then (global.set $total (i64.const 0))))
    (i64.or (i64.const 0x0000040000000000) (local.get $size)))

  (func (export "parley_save") (result i64)
    (i64.store (i32.const 16) (global.get $total))
    (if (i32.eq (global.get $order) (i32.const 5)) (then (return (i64.const 0x0000001000011170))))
    (i64.const 0x0000001000000008))

  (func (export "parley_load") (param $len i32) (result i32)
    (if (i32.eq (global.get $order) (i32.const 6)) (then (return (i32.const 2))))
    (if (i32.ne (local.get $len) (i32.const 8)) (then (return (i32.const 0))))
    (global.set $total (i64.load (i32.const 131072)))
    (i32.const 1)))
