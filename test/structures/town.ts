import process from 'node:process'
import { Directory } from '../../src/structures/heap/directory.ts'
import { Heap } from '../../src/structures/heap/heap.ts'
import { layoutOf } from '../../src/structures/heap/layout.ts'
import type { Backing } from '../../src/structures/memory/backing.ts'
import type { Peers } from '../../src/structures/peers.ts'
import { addReaches } from '../../src/structures/reaches.ts'
import { FragileMemory, Killed } from './fragile-memory.ts'
import { Pages } from './pages.ts'

/** AETHER_TEST_GROWTH=1: all of them grow, in every test that has such a heap. */
const ALL_GROW = process.env['AETHER_TEST_GROWTH'] === '1'

/** A heap of 14 slabs. */
const HEAP_BYTES = 1.1 * 2 ** 20

/** One who lives in a {@link Town}: a process, as far as a heap can tell. */
export class Inhabitant {
  readonly heap: Heap
  readonly memory: FragileMemory
  readonly slot: number
  readonly epoch: number
  readonly directory: Directory

  constructor(town: Town, slot: number, epoch: number) {
    this.slot = slot
    this.epoch = epoch
    this.memory = new FragileMemory(town.bytes)
    this.heap = new Heap('town', this.memory, town.peersOf(slot, epoch), undefined, this.#backing(town))
    this.directory = new Directory(this.heap)
    addReaches(this.heap)
  }

  #backing({ pages }: Town): Backing | undefined {
    if (pages === undefined) return undefined
    const { memory } = this
    memory.touched = (offset, lengthBytes) => pages.touch(offset, lengthBytes)
    return {
      get isWhole() {
        return pages.isWhole
      },
      take(offsetBytes, lengthBytes) {
        memory.step()
        pages.take(offsetBytes, lengthBytes)
      },
      giveBack(offsetBytes, lengthBytes) {
        memory.step()
        pages.giveBack(offsetBytes, lengthBytes)
      },
    }
  }

  /** Run `work` and kill its process after so many accesses to memory. True when it was done before. */
  killedAfter(calls: number, work: () => void): boolean {
    this.memory.callsLeft = calls
    try {
      work()
    } catch (error) {
      if (!isKilled(error)) throw error
    }
    const done = this.memory.callsLeft > 0
    this.memory.callsLeft = 0
    return done
  }
}

/** Also where a `using` could not end what it held, for the same reason. */
function isKilled(error: unknown): boolean {
  if (error instanceof Error && 'suppressed' in error && 'error' in error) return isKilled(error.error)
  return error instanceof Killed
}

/** A heap whose participants are objects of one process, that live and die as a test says. */
export class Town {
  readonly bytes: Uint8Array
  /** If its heap grows and shrinks. */
  readonly pages: Pages | undefined
  readonly #living = new Map<number, number>()
  #lastEpoch = 0

  /** `bytes`: the memory, if it is to be of a kind of its own. `grows`: it is taken as it is needed. */
  constructor(lengthBytes: number = HEAP_BYTES, bytes?: Uint8Array, grows: boolean = ALL_GROW) {
    this.bytes = bytes ?? new Uint8Array(new SharedArrayBuffer(Math.floor(lengthBytes / 8) * 8))
    if (!grows) return
    this.pages = new Pages(this.bytes)
    this.pages.take(0, layoutOf(this.bytes.length).statesOffset)
  }

  get slabs(): number {
    return layoutOf(this.bytes.length).slabs
  }

  /** A new one, joined unless told otherwise; in the lowest slot that is free. */
  settle(join: boolean = true): Inhabitant {
    let slot = 0
    while (this.#living.has(slot)) slot += 1
    this.#lastEpoch += 1
    this.#living.set(slot, this.#lastEpoch)
    const inhabitant = new Inhabitant(this, slot, this.#lastEpoch)
    if (join) inhabitant.heap.join()
    return inhabitant
  }

  /** From now on everybody knows that it is dead. */
  bury({ slot }: Inhabitant): void {
    this.#living.delete(slot)
  }

  peersOf(slot: number, epoch: number): Peers {
    const isThere = (of: number, at: number) => this.#living.get(of) === at
    return {
      slot,
      epoch,
      isPresent: isThere,
      isAlive: isThere,
      ring: () => {},
      onRing: () => () => {},
      onChange: () => () => {},
    }
  }
}

/** Free everything that can be: nobody is inside an operation. */
export function settleMemory(heap: Heap): void {
  heap.recover()
  heap.collect()
  heap.collect()
}
