/** A heap takes memory as it needs it and gives it back, touches nothing else, and loses nothing when a member dies. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { MemoryExhaustedError } from '../../src/dsm/index.ts'
import { HeapFullError } from '../../src/structures/errors.ts'
import type { Heap } from '../../src/structures/heap/heap.ts'
import { SLAB_BYTES, SLAB_STATES_BYTES } from '../../src/structures/heap/layout.ts'
import { Reach } from '../../src/structures/heap/reach.ts'
import { SlabKind, slabKind } from '../../src/structures/heap/slab-word.ts'
import { HeapSight } from '../../src/structures/sight/heap-sight.ts'
import { heapUse } from '../../src/structures/sight/heap-use.ts'
import { PAGE_BYTES, type Pages } from './pages.ts'
import { type Inhabitant, settleMemory, Town } from './town.ts'

/** A heap of 128 slabs. */
const HEAP_BYTES = 8.75 * 2 ** 20
const PER_SLAB = (SLAB_BYTES + SLAB_STATES_BYTES) / PAGE_BYTES
/** What is taken at least. */
const STEP_SLABS = 16
/** What stays at most of memory that is free: the slack, what is kept back, and what is not worth a look of two. */
const STAYING_SLABS = 16 + 3 + 7 + 2 * 8
/** Accesses from one death to the next. Each of them is tried by AETHER_TEST_KILLS=1000 or more. */
const STRIDE = Number(process.env['AETHER_TEST_KILLS'] ?? 6) >= 1000 ? 1 : 401

class GrowingTown extends Town {
  /** Pages that were there before any slab. */
  readonly headPages: number

  constructor(lengthBytes: number = HEAP_BYTES) {
    super(lengthBytes, undefined, true)
    this.headPages = this.kernel.taken
  }

  get kernel(): Pages {
    assert.ok(this.pages !== undefined)
    return this.pages
  }

  /** Slabs with memory. */
  slabsTaken({ heap }: Inhabitant): number {
    return heap.usage().takenBytes / SLAB_BYTES
  }
}

function allocate(heap: Heap, lengthBytes: number, essential: boolean = false): number {
  heap.intent.begin(0, Reach.Cell)
  const { reference } = heap.allocate(lengthBytes, essential)
  heap.intent.end()
  return reference
}

/** Take blocks until so many bytes are in use, or there is no memory. */
function fill(heap: Heap, lengthBytes: number, wantedBytes: number): number[] {
  const taken: number[] = []
  for (let bytes = 0; bytes < wantedBytes; ) {
    const reference = allocate(heap, lengthBytes)
    taken.push(reference)
    bytes += heap.blocks.lengthOf(reference)
  }
  return taken
}

/** Whoever took them. */
function free(heap: Heap, references: readonly number[]): void {
  for (const reference of references) heap.epochs.retire(reference, heap.blocks.state(reference))
  heap.collect()
}

function fillUp(heap: Heap, lengthBytes: number): { readonly taken: number[]; readonly error: HeapFullError } {
  const taken: number[] = []
  try {
    for (;;) taken.push(allocate(heap, lengthBytes))
  } catch (error) {
    if (!(error instanceof HeapFullError)) throw error
    return { taken, error }
  }
}

function kindsOf({ heap }: Inhabitant): Map<number, number> {
  const kinds = new Map<number, number>()
  for (let slab = 0; slab < heap.blocks.backed; slab += 1) {
    const kind = slabKind(heap.blocks.word(slab))
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  }
  return kinds
}

const orders: Readonly<Record<string, (taken: number[]) => number[]>> = {
  'as they were taken': (taken) => taken,
  'last first': (taken) => taken.toReversed(),
  'in any order': (taken) => {
    let seed = 7
    const random = () => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
      return seed
    }
    return taken
      .map((reference) => ({ reference, at: random() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ reference }) => reference)
  },
}

for (const lengthBytes of [64, 700, 10_000, 65_536, 150_000]) {
  for (const [name, order] of Object.entries(orders)) {
    test(`blocks of ${lengthBytes} bytes: memory comes with them, and goes when they are freed ${name}`, () => {
      const town = new GrowingTown()
      const [one, other] = [town.settle(), town.settle()]
      assert.equal(town.kernel.taken, town.headPages, 'nothing is taken before it is needed')
      const sight = new HeapSight(town.bytes)
      for (let round = 0; round < 2; round += 1) {
        const taken = fill(one.heap, lengthBytes, 4 * 2 ** 20)
        const slabs = town.slabsTaken(one)
        // A row of slabs may need some that no smaller one fits in.
        assert.ok(slabs >= 64 && slabs <= 64 * 1.5 + STEP_SLABS, `${slabs} slabs for 64`)
        assert.ok(town.kernel.taken <= town.headPages + one.heap.blocks.backed * PER_SLAB)
        const ordered = order(taken)
        for (let at = 0; at < ordered.length; at += 7)
          free((at % 3 === 0 ? other : one).heap, ordered.slice(at, at + 7))
        assert.equal(one.heap.usage().usedBytes, 0)
        assert.equal(heapUse(sight).usedBytes, 0)
        for (const reference of taken) assert.equal(sight.block(reference), undefined)
        assert.ok(town.slabsTaken(one) <= STAYING_SLABS, `${town.slabsTaken(one)} slabs for nothing`)
        const states = (one.heap.blocks.backed * SLAB_STATES_BYTES) / PAGE_BYTES
        const pages = town.headPages + states + (town.slabsTaken(one) * SLAB_BYTES) / PAGE_BYTES
        assert.equal(town.kernel.taken, pages, 'holes have no memory')
      }
    })
  }
}

test('a heap grows in few steps, and to its size', () => {
  const town = new GrowingTown()
  const one = town.settle()
  const { taken, error } = fillUp(one.heap, 65_536)
  // A sixteenth is kept back.
  assert.equal(taken.length, town.slabs - (town.slabs >>> 4))
  assert.equal(error.cause, undefined)
  assert.match(error.message, /bytes are in use; open with a larger size, or bound what is kept$/)
  assert.equal(town.slabsTaken(one), town.slabs)
  // Two calls for each: states and slabs.
  assert.ok(town.kernel.calls < 30, `${town.kernel.calls} calls`)
})

test('what goes up and down within the slack asks for nothing, and beyond it for little', () => {
  const town = new GrowingTown()
  const { heap } = town.settle()
  const kept = fill(heap, 700, 2 * 2 ** 20)
  const swing = (bytes: number, times: number): number => {
    const before = town.kernel.calls
    for (let time = 0; time < times; time += 1) free(heap, fill(heap, 700, bytes))
    return town.kernel.calls - before
  }
  swing(2 ** 19, 2)
  assert.equal(swing(2 ** 19, 50), 0)
  const calls = swing(3 * 2 ** 20, 10)
  assert.ok(calls <= 200, `${calls} calls`)
  free(heap, kept)
})

test('where the machine or the disk has no more, the error says so, and it goes on when there is some', () => {
  const town = new GrowingTown()
  const { heap } = town.settle()
  const other = town.settle()
  town.kernel.limit = town.headPages + 40 * PER_SLAB
  const { taken, error } = fillUp(heap, 700)
  assert.ok(error.cause instanceof MemoryExhaustedError)
  assert.match(
    error.message,
    /no room for 700 bytes: \d+ of \d+ bytes are in use, and no more can be taken: region needs .*, but the disk is full \(ENOSPC\); free some of it/,
  )
  assert.ok(taken.length > 32 * 80, `${taken.length}`)
  assert.throws(() => fill(other.heap, 150_000, 1), { name: 'HeapFullError', message: /the disk is full/ })
  // What it takes to give memory back is there.
  for (let count = 0; count < 100; count += 1) allocate(heap, 500, true)
  assert.throws(() => allocate(heap, 700), { name: 'HeapFullError' })
  town.kernel.limit = Number.POSITIVE_INFINITY
  allocate(heap, 700)
  allocate(other.heap, 150_000)
})

test('when all of it is taken, nothing is given back any more', () => {
  const town = new GrowingTown()
  const early = town.settle()
  free(early.heap, fill(early.heap, 65_536, 6 * 2 ** 20))
  assert.ok((kindsOf(early).get(SlabKind.Hole) ?? 0) > 50)
  town.kernel.take(0, Math.floor(town.bytes.length / PAGE_BYTES) * PAGE_BYTES)
  town.kernel.isWhole = true
  const late = town.settle()
  assert.equal(late.heap.blocks.backed, town.slabs)
  for (const { heap } of [early, late]) {
    const { taken } = fillUp(heap, 65_536)
    assert.equal(taken.length, town.slabs - (town.slabs >>> 4))
    free(heap, taken)
  }
  assert.equal(town.slabsTaken(late), town.slabs)
})

/** What a member is doing when it dies. */
interface Step {
  /** By another, which lives on; what it holds then. */
  readonly before: (survivor: Heap) => number[]
  readonly does: (victim: Heap, held: number[]) => void
}

const steps: Readonly<Record<string, Step>> = {
  'grow by blocks': { before: () => [], does: (heap) => fill(heap, 65_536, 30 * SLAB_BYTES) },
  'grow by rows of slabs': { before: () => [], does: (heap) => fill(heap, 5 * SLAB_BYTES, 30 * SLAB_BYTES) },
  'give back what blocks had': { before: (heap) => fill(heap, 65_536, 70 * SLAB_BYTES), does: free },
  'give back what rows had': { before: (heap) => fill(heap, 5 * SLAB_BYTES, 70 * SLAB_BYTES), does: free },
  'take a hole back': {
    before(heap) {
      free(heap, fill(heap, 65_536, 70 * SLAB_BYTES))
      return []
    },
    does: (heap) => fill(heap, 65_536, 60 * SLAB_BYTES),
  },
  'take holes back for a row': {
    before(heap) {
      free(heap, fill(heap, 65_536, 70 * SLAB_BYTES))
      return []
    },
    does: (heap) => fill(heap, 7 * SLAB_BYTES, 60 * SLAB_BYTES),
  },
  'be refused': {
    before: (heap) => fill(heap, 65_536, 70 * SLAB_BYTES),
    does(heap) {
      fillUp(heap, 65_536)
    },
  },
}

for (const [at, [name, { before, does }]] of Object.entries(steps).entries()) {
  test(`${name}: a member is killed at any access, and no memory is lost`, () => {
    let calls = at % STRIDE
    for (let done = false; !done; calls += STRIDE) {
      const town = new GrowingTown()
      const survivor = town.settle()
      const held = before(survivor.heap)
      if (name === 'be refused') town.kernel.limit = town.kernel.taken + 5 * PER_SLAB
      const victim = town.settle()
      done = victim.killedAfter(calls, () => does(victim.heap, held))
      town.bury(victim)
      town.kernel.limit = Number.POSITIVE_INFINITY
      const context = `after ${calls} accesses`
      settleMemory(survivor.heap)
      const kinds = kindsOf(survivor)
      for (const kind of [SlabKind.Claimed, SlabKind.Closing, SlabKind.Bare])
        assert.equal(kinds.get(kind), undefined, context)
      // What the victim had linked nowhere, or has not freed yet, is there as it was. All else can be had.
      const used = survivor.heap.usage().usedBytes / SLAB_BYTES
      const { taken } = fillUp(survivor.heap, 65_536)
      assert.ok(taken.length + used >= town.slabs - (town.slabs >>> 4), `${taken.length} and ${used}, ${context}`)
    }
    assert.ok(calls > 100, `${calls} accesses`)
  })
}
