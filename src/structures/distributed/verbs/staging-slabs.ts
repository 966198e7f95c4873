import { Access, type MemoryRegion, type ProtectionDomain } from '../../../verbs/index.ts'

/** Registered bytes for the operands and results of one batch. */
export interface Staged {
  readonly bytes: Uint8Array
  readonly address: number
  readonly key: number
  readonly giveBack: () => void
}

const LENGTH_MIN = 256
const SLAB_BYTES = 64 * 1024

/** Registered memory of this rank in pieces of powers of two, which are used again. */
export class StagingSlabs {
  readonly #domain: ProtectionDomain
  readonly #free = new Map<number, Staged[]>()

  constructor(domain: ProtectionDomain) {
    this.#domain = domain
  }

  take(lengthBytes: number): Staged {
    let length = LENGTH_MIN
    while (length < lengthBytes) length *= 2
    const free = this.#free.get(length) ?? []
    this.#free.set(length, free)
    if (free.length === 0) this.#makeSome(length, free)
    return free.pop()!
  }

  #makeSome(length: number, free: Staged[]): void {
    const memory = this.#domain.allocate(Math.max(length, SLAB_BYTES), Access.LocalWrite)
    for (let at = 0; at < memory.length; at += length) free.push(piece(memory, at, length, free))
  }
}

function piece(memory: MemoryRegion, at: number, length: number, free: Staged[]): Staged {
  const staged: Staged = {
    bytes: memory.bytes.subarray(at, at + length),
    address: memory.address + at,
    key: memory.localKey,
    giveBack: () => void free.push(staged),
  }
  return staged
}
