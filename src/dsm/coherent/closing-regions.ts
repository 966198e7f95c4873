import { type Mesh, MeshChannel } from '../../cluster/index.ts'

/**
 * A rank has no requests of its own under way in the region, and will make none: bytes [0] = MeshChannel.Closings,
 * [4..7] = id.
 */
const MESSAGE_BYTES = 8

export interface ClosingRegionsOptions {
  readonly mesh: Mesh
  /** Whether nothing of the region is under way as far as this rank knows. */
  readonly isQuiescent: (region: number) => boolean
  /** Nothing of it is under way anywhere: its memory may be given back. */
  readonly close: (region: number) => void
}

interface Closing {
  /** Ranks without requests. A request of any other may still have a page written into our frames. */
  readonly settled: Set<number>
  /** No rank has the region open any more, and this rank has been told. */
  free: boolean
}

/**
 * Regions that no rank has open any more. A page may still be on its way into a rank's frames, for a call that was
 * abandoned. A rank gives memory back when all living ranks have said that they want nothing more, and nothing is left
 * for it to do. What a rank sent before it said so has arrived, since its messages stay in order.
 */
export class ClosingRegions {
  readonly #options: ClosingRegionsOptions
  readonly #closings = new Map<number, Closing>()

  constructor(options: ClosingRegionsOptions) {
    this.#options = options
  }

  has(region: number): boolean {
    return this.#closings.get(region)?.free === true
  }

  add(region: number): void {
    const closing = this.#closing(region)
    closing.free = true
    this.#advance(region, closing)
  }

  /** False where the message is none. */
  receive(from: number, bytes: Uint8Array): boolean {
    if (bytes.length !== MESSAGE_BYTES) return false
    // It may come before we have heard that the region is free.
    this.#closing(new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true)).settled.add(from)
    return true
  }

  /** What was under way may have ended, or a rank. */
  turn(): void {
    for (const [region, closing] of this.#closings) if (closing.free) this.#advance(region, closing)
  }

  #advance(region: number, { settled }: Closing): void {
    const { mesh, isQuiescent, close } = this.#options
    if (!isQuiescent(region)) return
    if (!settled.has(mesh.rank)) {
      settled.add(mesh.rank)
      this.#tell(region)
    }
    for (let rank = 0; rank < mesh.size; rank += 1) if (mesh.isAlive(rank) && !settled.has(rank)) return
    this.#closings.delete(region)
    // A page may be on its way out of our frames: what a peer has not acknowledged may be sent once more.
    mesh.afterWrites(() => close(region))
  }

  #tell(region: number): void {
    const { mesh } = this.#options
    const bytes = new Uint8Array(MESSAGE_BYTES)
    bytes[0] = MeshChannel.Closings
    new DataView(bytes.buffer).setUint32(4, region, true)
    for (let rank = 0; rank < mesh.size; rank += 1) if (rank !== mesh.rank && mesh.isAlive(rank)) mesh.send(rank, bytes)
  }

  #closing(region: number): Closing {
    let closing = this.#closings.get(region)
    if (closing === undefined) {
      closing = { settled: new Set(), free: false }
      this.#closings.set(region, closing)
    }
    return closing
  }
}
