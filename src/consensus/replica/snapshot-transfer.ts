import { crc32 } from 'node:zlib'
import { Access, type MemoryRegion, type ProtectionDomain } from '../../verbs/index.ts'
import type { SnapshotHead } from './journal.ts'
import type { RemoteRegion, ReplicaLink } from './replica-link.ts'

/** A snapshot in the memory of the replica that offers it. */
export interface SnapshotOffer extends RemoteRegion, SnapshotHead {
  readonly lengthBytes: number
  readonly checksum: number
}

/** Bytes of a snapshot that are made ready in a row. */
const STEP_BYTES = 2 ** 20
/** Bytes of one READ. */
const CHUNK_BYTES = 32 * 1024
/** READs under way at a time. */
const READS = 2

/** One that is being copied to where others read it. */
interface SnapshotReady {
  readonly region: MemoryRegion
  /** The next part, and what those before it come to. */
  next: number
  lengthBytes: number
  checksum: number
}

/** Snapshots from one replica's memory to another's: by READ, while the log goes on. */
export class SnapshotTransfer {
  readonly #domain: ProtectionDomain
  #offer: SnapshotOffer | undefined
  #parts: Uint8Array[] = []
  #ready: SnapshotReady | undefined
  /** The offered one, and the one before, which may still be read. */
  #regions: MemoryRegion[] = []
  readonly #offeredNs = new Map<number, number>()
  #fetching: ReplicaLink | undefined

  constructor(domain: ProtectionDomain) {
    this.#domain = domain
  }

  /** What others may read; undefined if there is nothing. */
  get offer(): SnapshotOffer | undefined {
    return this.#offer
  }

  /** Parts of the next one, in order. `isFirst`: what came before is of no use. */
  add(part: Uint8Array, isFirst: boolean): void {
    if (isFirst) this.drop()
    this.#parts.push(part)
  }

  /** What came of the next one is of no use. */
  drop(): void {
    this.#ready?.region.close()
    this.#ready = undefined
    this.#parts = []
  }

  /**
   * Make the next one ready to be read, a part of it at a time. `first` is before those that came. Undefined if that is
   * to be called again. Else it is offered from now on, and its parts are the caller's.
   */
  offerParts(head: SnapshotHead, first: Uint8Array): readonly Uint8Array[] | undefined {
    this.#ready ??= this.#readyFor(first)
    const ready = this.#ready
    const { region } = ready
    for (let left = STEP_BYTES; left > 0 && ready.next < this.#parts.length; ready.next += 1) {
      const part = this.#parts[ready.next]!
      region.bytes.set(part, ready.lengthBytes)
      ready.checksum = crc32(part, ready.checksum)
      ready.lengthBytes += part.length
      left -= part.length
    }
    if (ready.next < this.#parts.length) return undefined
    const { lengthBytes, checksum } = ready
    this.#regions.push(region)
    while (this.#regions.length > 2) this.#regions.shift()!.close()
    const { address, remoteKey } = region
    this.#offer = { ...head, address, key: remoteKey, lengthBytes, checksum }
    this.#offeredNs.clear()
    const parts = this.#parts
    this.#ready = undefined
    this.#parts = []
    return parts
  }

  #readyFor(first: Uint8Array): SnapshotReady {
    this.#parts.unshift(first)
    const total = this.#parts.reduce((sum, { length }) => sum + length, 0)
    const region = this.#domain.allocate(Math.max(1, total), Access.LocalWrite | Access.RemoteRead)
    return { region, next: 0, lengthBytes: 0, checksum: 0 }
  }

  /** Whether a replica should be told of the offer, for the first time or again. */
  mayOffer(id: number, nowNs: number, againNs: number): boolean {
    const before = this.#offeredNs.get(id)
    if (before !== undefined && nowNs - before < againNs) return false
    this.#offeredNs.set(id, nowNs)
    return true
  }

  /** Read a snapshot from the peer's memory. `done` is not called if the connection breaks, or the checksum differs. */
  fetch(link: ReplicaLink, offer: SnapshotOffer, done: (bytes: Uint8Array) => void): void {
    if (this.#fetching?.isUp === true) return
    this.#fetching = link
    const bytes = new Uint8Array(offer.lengthBytes)
    let asked = 0
    let come = 0
    // READs of one connection come in order.
    let checksum = 0
    const next = (): void => {
      const offset = asked
      const length = Math.min(CHUNK_BYTES, offer.lengthBytes - offset)
      if (length <= 0) return
      asked += length
      link.read(
        offset,
        length,
        (chunk) => {
          bytes.set(chunk, offset)
          checksum = crc32(chunk, checksum)
          come += length
          if (come < offer.lengthBytes) return next()
          this.#fetching = undefined
          if (checksum === offer.checksum) done(bytes)
        },
        offer,
      )
    }
    if (offer.lengthBytes === 0) {
      this.#fetching = undefined
      done(bytes)
    } else for (let read = 0; read < READS; read += 1) next()
  }
}
