import type { Step } from '../../../src/arrays/exchange/steps.ts'
import type { OwnPiece, PartMemory, Place } from '../../../src/arrays/memory/part-memory.ts'
import type { DType, Elements } from '../../../src/arrays/types/dtype.ts'

const APART = 2 ** 32

/** Memory of ranks of one process, which every rank reaches. */
export class PlainMemory implements PartMemory {
  /** By address; pieces are far apart, so that places within them are addresses, too. */
  readonly #pieces = new Map<number, Uint8Array>()
  #last = 0

  take(lengthBytes: number): OwnPiece {
    const address = ++this.#last * APART
    const bytes = new Uint8Array(lengthBytes)
    this.#pieces.set(address, bytes)
    return { place: { address, key: 0 }, bytes, giveBack: () => this.#pieces.delete(address) }
  }

  get taken(): number {
    return this.#pieces.size
  }

  mapped(_: number, { address }: Place, dtype: DType, length: number): Elements {
    return new dtype.Elements(this.#pieces.get(address)!.buffer as ArrayBuffer, 0, length)
  }

  read(_: number, place: Place, target: Uint8Array): Step<void> {
    return this.#atOnce(() => target.set(this.#bytesAt(place, target.length)))
  }

  write(_: number, place: Place, source: Uint8Array): Step<void> {
    return this.#atOnce(() => this.#bytesAt(place, source.length).set(source))
  }

  async close(): Promise<void> {}

  #bytesAt({ address }: Place, length: number): Uint8Array {
    const offset = address % APART
    return this.#pieces.get(address - offset)!.subarray(offset, offset + length)
  }

  #atOnce(act: () => void): Step<void> {
    return { blocking: act, awaited: async () => act() }
  }
}
