import type { Heap } from '../heap/heap.ts'
import { QueueCore } from '../list/queue-core.ts'
import type { ValueCopy } from '../values/value-reader.ts'
import { JOB_ID_BYTES_MAX } from './layout.ts'

const NO_BOUND = { capacity: 0 }
/** Bytes of a list in the body. */
export const ID_LIST_BYTES = 8

/** An id on its way, and how many bytes of it were read. */
const scratch = Buffer.alloc(JOB_ID_BYTES_MAX)
let copied = 0

/** The first entry of a list; `number` tells it from later ones. */
export interface IdEntry {
  readonly id: string
  readonly number: number
}

/**
 * Ids of jobs, first in, first out. What it says is a hint: the record of a job decides what is done with it. So a
 * reader deals with the first entry before it takes that away. If it is stopped or killed in between, others deal with
 * the entry too, which does no harm.
 */
export class IdList implements ValueCopy {
  readonly #heap: Heap
  readonly #core: QueueCore

  constructor(heap: Heap, offset: number) {
    this.#heap = heap
    this.#core = new QueueCore(heap, offset, NO_BOUND)
  }

  get isEmpty(): boolean {
    return this.#core.isEmpty
  }

  /** @throws HeapFullError */
  push(id: string): void {
    this.#core.push(scratch.subarray(0, scratch.write(id)))
  }

  first(): IdEntry | undefined {
    const number = this.#core.first(this)
    return number === undefined ? undefined : { id: scratch.toString('utf8', 0, copied), number }
  }

  /** Take away the first entry, if it still is that one. */
  drop({ number }: IdEntry): void {
    this.#core.dropFirst(number)
  }

  /** The number of the last entry; undefined if there is none. */
  lastNumber(): number | undefined {
    return this.isEmpty ? undefined : this.#core.lastNumber()
  }

  copy(offset: number, lengthBytes: number): void {
    this.#heap.memory.read(offset, scratch, lengthBytes)
    copied = lengthBytes
  }
}
