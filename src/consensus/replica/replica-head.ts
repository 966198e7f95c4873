import { native } from '../../native/index.ts'
import { mapForeignMemory, type ProcessLife } from '../../runtime/index.ts'
import { HeadWord } from './layout.ts'
import type { VoterHead } from './voter-view.ts'

/** Where the memory of a replica is found by processes of its machine. */
export interface ReplicaSight extends ProcessLife {
  readonly id: number
  /** Of the memory object, in that process. */
  readonly descriptor: number
}

const PAGE_BYTES = 4096
const HIGH = 2 ** 32

/** The first words of a replica's memory, as another process of its machine sees them: see `layout.ts`. */
export class ReplicaHead implements VoterHead {
  readonly id: number
  readonly #words: Uint32Array
  readonly #mapping: ArrayBuffer

  private constructor(id: number, mapping: ArrayBuffer) {
    this.id = id
    this.#mapping = mapping
    this.#words = new Uint32Array(mapping)
  }

  /** Undefined if it cannot be reached from here: its process has ended, or runs elsewhere. */
  static open({ id, processId, descriptor }: ReplicaSight): ReplicaHead | undefined {
    const mapping = mapForeignMemory({ processId, descriptor, lengthBytes: PAGE_BYTES })
    const head = mapping && new ReplicaHead(id, mapping)
    // The process may have ended, and another have its number.
    if (head === undefined || head.#get(HeadWord.Id) === id) return head
    head.close()
    return undefined
  }

  get counter(): number {
    return this.#get(HeadWord.Counter)
  }

  get promise(): number {
    return this.#get(HeadWord.Promise)
  }

  get known(): number {
    return this.#get(HeadWord.Known)
  }

  get leads(): number {
    return this.#get(HeadWord.Leads)
  }

  get version(): number {
    return this.#get(HeadWord.Version)
  }

  close(): void {
    native.unmapMemory(this.#mapping)
  }

  /** It may go on meanwhile, from one half to the other. */
  #get(offset: number): number {
    const word = offset / 4
    for (;;) {
      const high = Atomics.load(this.#words, word + 1)
      const low = Atomics.load(this.#words, word)
      if (Atomics.load(this.#words, word + 1) === high) return high * HIGH + low
    }
  }
}
