import { encodeKept, type ReplicaMessage } from './replica-channel.ts'

/** What is kept of one page. */
export interface Replica {
  /** The home of the page while every member lived. */
  readonly home: number
  readonly bytes: Uint8Array
}

interface Arriving {
  readonly page: number
  readonly token: number
  readonly bytes: Uint8Array
  filled: number
}

/**
 * What a rank keeps of a region for others: of each page the bytes that were last fenced. Also where the rank has not
 * opened the region.
 */
export class ReplicaStore {
  readonly #region: number
  readonly #send: (to: number, bytes: Uint8Array) => void
  readonly #pages = new Map<number, Replica>()
  /** By sender: the page whose parts are coming. */
  readonly #arriving = new Map<number, Arriving>()
  readonly #complete = new Set<number>()
  #keptBytes = 0

  constructor(region: number, send: (to: number, bytes: Uint8Array) => void) {
    this.#region = region
    this.#send = send
  }

  get(page: number): Replica | undefined {
    return this.#pages.get(page)
  }

  pages(): IterableIterator<[number, Replica]> {
    return this.#pages.entries()
  }

  /** The first homes of those pages. */
  *homes(): Generator<{ readonly page: number; readonly home: number }> {
    for (const [page, { home }] of this.#pages) yield { page, home }
  }

  /** What is kept, in bytes. */
  get keptBytes(): number {
    return this.#keptBytes
  }

  keep(page: number, home: number, bytes: Uint8Array): void {
    this.#keptBytes += bytes.length - (this.#pages.get(page)?.bytes.length ?? 0)
    this.#pages.set(page, { home, bytes })
  }

  /** Whether all is here that was kept of pages whose first home was rank `home`, by the word of its keeper. */
  wasTold(home: number): boolean {
    return this.#complete.has(home)
  }

  /** Rank `from` says nothing more: a page that it was in the middle of stays as it was. */
  memberDied(from: number): void {
    this.#arriving.delete(from)
  }

  /** False where it makes no sense after what came before. */
  receive(from: number, message: Exclude<ReplicaMessage, { kind: 'kept' }>): boolean {
    if (message.kind === 'complete') {
      this.#complete.add(message.home)
      return true
    }
    const { page, token, home, offset, total, bytes } = message
    if (offset === 0) this.#arriving.set(from, { page, token, bytes: new Uint8Array(total), filled: 0 })
    const arriving = this.#arriving.get(from)
    const follows = arriving?.page === page && arriving.token === token && arriving.filled === offset
    if (arriving === undefined || !follows || arriving.bytes.length !== total) return false
    arriving.bytes.set(bytes, offset)
    arriving.filled += bytes.length
    if (arriving.filled < total) return true
    this.#arriving.delete(from)
    // What a holder says meanwhile is newer than what a keeper had.
    if (message.kind === 'part' || !this.#pages.has(page)) this.keep(page, home, arriving.bytes)
    this.#send(from, encodeKept(this.#region, token))
    return true
  }
}
