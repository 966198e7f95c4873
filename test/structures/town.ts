import { Directory } from '../../src/structures/heap/directory.ts'
import { Heap } from '../../src/structures/heap/heap.ts'
import { layoutOf } from '../../src/structures/heap/layout.ts'
import type { Peers } from '../../src/structures/peers.ts'
import { addReaches } from '../../src/structures/reaches.ts'
import { FragileMemory, Killed } from './fragile-memory.ts'

/** A heap of 14 slabs. */
const HEAP_BYTES = 1.05 * 2 ** 20

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
    this.heap = new Heap('town', this.memory, town.peersOf(slot, epoch))
    this.directory = new Directory(this.heap)
    addReaches(this.heap)
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
  readonly #living = new Map<number, number>()
  #lastEpoch = 0

  /** `bytes`: the memory, if it is to be of a kind of its own. */
  constructor(lengthBytes: number = HEAP_BYTES, bytes?: Uint8Array) {
    this.bytes = bytes ?? new Uint8Array(new SharedArrayBuffer(Math.floor(lengthBytes / 8) * 8))
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
