import { alignUp } from '../size.ts'

/** What is asked for. */
export interface AllocationRequest {
  readonly lengthBytes: number
  /** A power of two. */
  readonly alignBytes: number
  /** If it has a name, all who ask for that name share it. */
  readonly name: string | null
}

/** One allocation, as it is kept. */
export interface AllocationRecord {
  /** Never given twice in the life of a region. */
  readonly id: number
  readonly offsetBytes: number
  readonly lengthBytes: number
  readonly name: string | null
}

/** What came of a request; a value, because it travels between processes. */
export type AllocationOutcome =
  | { readonly kind: 'allocated'; readonly record: AllocationRecord; readonly created: boolean }
  | { readonly kind: 'exhausted'; readonly largestBytes: number }
  | { readonly kind: 'other'; readonly record: AllocationRecord }
  | { readonly kind: 'freed' }
  | { readonly kind: 'notAllocated' }

/** Everything there is to know about the allocations of a region. */
export interface AllocationState {
  readonly nextId: number
  /** By offset. */
  readonly records: readonly AllocationRecord[]
}

/**
 * Which parts of a region are taken. There is no list of free space that could be wrong: it is what no record has. The
 * first gap that is large enough is taken, so that little is scattered.
 */
export class Allocations {
  readonly #sizeBytes: number
  #nextId: number
  #records: AllocationRecord[]

  constructor(sizeBytes: number, state: AllocationState = { nextId: 1, records: [] }) {
    this.#sizeBytes = sizeBytes
    this.#nextId = state.nextId
    this.#records = [...state.records]
  }

  get state(): AllocationState {
    return { nextId: this.#nextId, records: this.#records }
  }

  allocate({ lengthBytes, alignBytes, name }: AllocationRequest): AllocationOutcome {
    const known = name === null ? undefined : this.#records.find((record) => record.name === name)
    if (known !== undefined) {
      const isSame = known.lengthBytes === lengthBytes && known.offsetBytes % alignBytes === 0
      return isSame ? { kind: 'allocated', record: known, created: false } : { kind: 'other', record: known }
    }
    let largestBytes = 0
    let begin = 0
    for (let index = 0; index <= this.#records.length; index += 1) {
      const next = this.#records[index]
      const gapBytes = (next?.offsetBytes ?? this.#sizeBytes) - begin
      if (gapBytes >= lengthBytes) return this.#insert(index, { offsetBytes: begin, lengthBytes, name })
      largestBytes = Math.max(largestBytes, gapBytes)
      if (next !== undefined) begin = alignUp(next.offsetBytes + next.lengthBytes, alignBytes)
    }
    return { kind: 'exhausted', largestBytes }
  }

  free(id: number): AllocationOutcome {
    const left = this.#records.filter((record) => record.id !== id)
    if (left.length === this.#records.length) return { kind: 'notAllocated' }
    this.#records = left
    return { kind: 'freed' }
  }

  #insert(index: number, place: Omit<AllocationRecord, 'id'>): AllocationOutcome {
    const record = { id: this.#nextId++, ...place }
    this.#records.splice(index, 0, record)
    return { kind: 'allocated', record, created: true }
  }
}
