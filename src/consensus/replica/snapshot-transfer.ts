import { crc32 } from 'node:zlib'
import { Access, type MemoryRegion, type ProtectionDomain } from '../../verbs/index.ts'
import type { SnapshotHead } from './journal.ts'
import type { RemoteRegion, ReplicaLink } from './replica-link.ts'

/** A snapshot in the memory of the replica that offers it. */
export interface SnapshotOffer extends RemoteRegion, SnapshotHead {
  readonly lengthBytes: number
  readonly checksum: number
}

/** Bytes of one READ. */
const CHUNK_BYTES = 32 * 1024
/** READs under way at a time. */
const READS = 2

/** Snapshots from one replica's memory to another's: by READ, while the log goes on. */
export class SnapshotTransfer {
  readonly #domain: ProtectionDomain
  #offer: SnapshotOffer | undefined
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

  /** Offer this one from now on. */
  keep(head: SnapshotHead, bytes: Uint8Array): void {
    const region = this.#domain.allocate(Math.max(1, bytes.length), Access.LocalWrite | Access.RemoteRead)
    region.bytes.set(bytes)
    this.#regions.push(region)
    while (this.#regions.length > 2) this.#regions.shift()!.close()
    const { address, remoteKey } = region
    const checksum = crc32(bytes)
    this.#offer = { ...head, address, key: remoteKey, lengthBytes: bytes.length, checksum }
    this.#offeredNs.clear()
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
          come += length
          if (come < offer.lengthBytes) return next()
          this.#fetching = undefined
          if (crc32(bytes) === offer.checksum) done(bytes)
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
