;; A read of a map in one call, from the key to a copy of the value. It does what Key.set, MapCore.lookUp and
;; SharedMap's #read do. They are its specification, and it leaves to them what it does not do (-2).
;;
;; An atomic access is an instruction here. In JavaScript each is a call.
;;
;; Offsets are those of ../heap/layout.ts, ../heap/participant.ts and layout.ts.
(module
  (import "aether" "memory" (memory 0 65536 shared))
  ;; Where the heap begins; memory of this thread alone, with the key, at 2040 the end of life and from 2048 on
  ;; the value; where this participant says since which epoch it is inside.
  (import "aether" "heap" (global $heap i32))
  (import "aether" "own" (global $own i32))
  (import "aether" "reservation" (global $reservation i32))
  (import "aether" "seed" (global $seed i32))

  ;; MurmurHash3, as ../hash.ts has it.
  (func $scramble (param $word i32) (result i32)
    (i32.mul
      (i32.rotl (i32.mul (local.get $word) (i32.const 0xcc9e2d51)) (i32.const 15))
      (i32.const 0x1b873593)))

  (func $hash (param $length i32) (result i32)
    (local $hash i32) (local $at i32) (local $end i32)
    (local.set $hash (global.get $seed))
    (local.set $at (global.get $own))
    (local.set $end (i32.add (local.get $at) (i32.and (local.get $length) (i32.const -4))))
    (block $done
      (loop $word
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $hash (i32.xor (local.get $hash) (call $scramble (i32.load (local.get $at)))))
        (local.set $hash
          (i32.add (i32.mul (i32.rotl (local.get $hash) (i32.const 13)) (i32.const 5)) (i32.const 0xe6546b64)))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (br $word)))
    (if (i32.and (local.get $length) (i32.const 3))
      (then (local.set $hash (i32.xor (local.get $hash) (call $scramble (i32.load (local.get $at)))))))
    (local.set $hash (i32.xor (local.get $hash) (local.get $length)))
    (local.set $hash (i32.xor (local.get $hash) (i32.shr_u (local.get $hash) (i32.const 16))))
    (local.set $hash (i32.mul (local.get $hash) (i32.const 0x85ebca6b)))
    (local.set $hash (i32.xor (local.get $hash) (i32.shr_u (local.get $hash) (i32.const 13))))
    (local.set $hash (i32.mul (local.get $hash) (i32.const 0xc2b2ae35)))
    (i32.xor (local.get $hash) (i32.shr_u (local.get $hash) (i32.const 16))))

  ;; Whether the entry has the key that lies in our own memory.
  (func $isOf (param $entry i32) (param $meta i32) (param $hash i32) (result i32)
    (local $at i32) (local $room i32)
    (if (i32.ne (i32.load offset=4 (local.get $entry)) (local.get $hash)) (then (return (i32.const 0))))
    (if (i32.ne (i32.load offset=8 (local.get $entry)) (local.get $meta)) (then (return (i32.const 0))))
    (local.set $room (call $keyRoom (local.get $meta)))
    (loop $word
      (if (i32.ge_u (local.get $at) (local.get $room)) (then (return (i32.const 1))))
      (if
        (i32.ne
          (i32.load offset=32 (i32.add (local.get $entry) (local.get $at)))
          (i32.load (i32.add (global.get $own) (local.get $at))))
        (then (return (i32.const 0))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br $word))
    (unreachable))

  (func $keyRoom (param $meta i32) (result i32)
    (i32.and (i32.add (i32.and (local.get $meta) (i32.const 0xffff)) (i32.const 3)) (i32.const -4)))

  ;; The length of the value, which is copied; or -1: there is none; or -2: ask MapCore.
  (func $copy (param $entry i32) (param $meta i32) (param $bounded i32) (result i32)
    (local $length i32) (local $from i32) (local $at i32)
    (local.set $length (i32.load offset=12 (local.get $entry)))
    ;; Deleted.
    (if (i32.eq (local.get $length) (i32.const -1)) (then (return (i32.const -1))))
    (if (i32.gt_u (local.get $length) (i32.const 2048)) (then (return (i32.const -2))))
    ;; The caller has a clock, and looks at the end of life.
    (i64.store offset=2040 (global.get $own) (i64.load offset=16 (local.get $entry)))
    ;; Read recently.
    (if (i32.and (local.get $bounded) (i32.eqz (i32.load offset=24 (local.get $entry))))
      (then (i32.store offset=24 (local.get $entry) (i32.const 1))))
    (local.set $from
      (i32.add (i32.add (local.get $entry) (i32.const 32)) (call $keyRoom (local.get $meta))))
    (block $done
      (loop $eight
        (br_if $done (i32.ge_u (local.get $at) (local.get $length)))
        (i64.store offset=2048
          (i32.add (global.get $own) (local.get $at))
          (i64.load (i32.add (local.get $from) (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $eight)))
    (local.get $length))

  (func $look (param $place i32) (param $meta i32) (param $bounded i32) (param $hash i32) (result i32)
    (local $table i32) (local $log2 i32) (local $slots i32) (local $mask i32)
    (local $index i32) (local $probes i32) (local $word i32) (local $reference i32) (local $entry i32)
    (local.set $reference (i32.atomic.load (local.get $place)))
    (if (i32.eqz (local.get $reference)) (then (return (i32.const -1))))
    (local.set $table (i32.add (global.get $heap) (i32.shl (local.get $reference) (i32.const 6))))
    (local.set $log2 (i32.load offset=4 (local.get $table)))
    (local.set $mask (i32.sub (i32.shl (i32.const 1) (local.get $log2)) (i32.const 1)))
    ;; Behind a word for each chunk of 64 slots.
    (local.set $slots
      (i32.add
        (i32.add (local.get $table) (i32.const 64))
        (i32.shl (i32.shl (i32.const 1) (i32.sub (local.get $log2) (i32.const 6))) (i32.const 2))))
    (local.set $index (i32.shr_u (local.get $hash) (i32.sub (i32.const 32) (local.get $log2))))
    (loop $probe
      (local.set $word
        (i32.atomic.load (i32.add (local.get $slots) (i32.shl (local.get $index) (i32.const 2)))))
      ;; Frozen, or moved: the next table may decide.
      (if (i32.and (local.get $word) (i32.const 0x4000000)) (then (return (i32.const -2))))
      (local.set $reference (i32.and (local.get $word) (i32.const 0x3ffffff)))
      (if (i32.eqz (local.get $reference)) (then (return (i32.const -1))))
      (if (i32.eq (i32.shr_u (local.get $word) (i32.const 27)) (i32.and (local.get $hash) (i32.const 31)))
        (then
          (local.set $entry (i32.add (global.get $heap) (i32.shl (local.get $reference) (i32.const 6))))
          (if (call $isOf (local.get $entry) (local.get $meta) (local.get $hash))
            (then (return (call $copy (local.get $entry) (local.get $meta) (local.get $bounded)))))))
      (local.set $index (i32.and (i32.add (local.get $index) (i32.const 1)) (local.get $mask)))
      (local.set $probes (i32.add (local.get $probes) (i32.const 1)))
      (br_if $probe (i32.le_u (local.get $probes) (local.get $mask))))
    (i32.const -2))

  ;; (where the map has its table, length and kind of the key, 1 if what is read has to be marked) -> as $copy.
  (func (export "lookUp") (param $place i32) (param $meta i32) (param $bounded i32) (result i32)
    (local $found i32)
    ;; Inside since this epoch. A plain load, as in Epochs.enter.
    (i32.atomic.store
      (global.get $reservation)
      (i32.or (i32.shl (i32.load offset=64 (global.get $heap)) (i32.const 1)) (i32.const 1)))
    (local.set $found
      (call $look
        (local.get $place)
        (local.get $meta)
        (local.get $bounded)
        (call $hash (i32.and (local.get $meta) (i32.const 0xffff)))))
    (i32.atomic.store (global.get $reservation) (i32.const 0))
    (local.get $found)))
