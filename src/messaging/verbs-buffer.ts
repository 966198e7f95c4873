import { ArgumentError, mustBe } from '../native/index.ts'
import { Access, type MemoryRegion, type ProtectionDomain, type Segment } from '../verbs/index.ts'
import type { LocalRange, RegisteredBuffer } from './memory-range.ts'

/** The rights of a peer to memory that it knows of. */
export const PEER_RIGHTS: number = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic

/** A memory region that belongs to a link. */
export class VerbsBuffer implements RegisteredBuffer {
  readonly memory: MemoryRegion
  readonly bytes: Uint8Array

  constructor(memory: MemoryRegion) {
    this.memory = memory
    this.bytes = memory.bytes
  }

  static allocate(domain: ProtectionDomain, lengthBytes: number): VerbsBuffer {
    return new VerbsBuffer(domain.allocate(lengthBytes, PEER_RIGHTS))
  }

  get address(): number {
    return this.memory.address
  }

  get key(): number {
    return this.memory.remoteKey
  }

  close(): void {
    this.memory.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** The range as a segment of a request. Throws ArgumentError if it is not a range, or goes beyond its buffer. */
export function segmentOf(range: LocalRange): Segment {
  if (!(range?.buffer instanceof VerbsBuffer))
    throw new ArgumentError(
      'local',
      'local must be a range { buffer, offset, length }, where buffer comes from allocate or register of this link',
    )
  const { buffer, offset = 0 } = range
  if (typeof offset !== 'number') throw mustBe('local.offset', 'a number of bytes', offset)
  const { length = buffer.bytes.length - offset } = range
  if (typeof length !== 'number') throw mustBe('local.length', 'a number of bytes', length)
  return buffer.memory.subarray(offset, offset + length)
}
