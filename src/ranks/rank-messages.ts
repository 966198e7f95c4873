import type { RankMessage } from '../cluster/index.ts'
import type { Peer } from '../messaging/index.ts'
import { checkIteration } from '../native/index.ts'
import { KeepAlive } from '../runtime/index.ts'

/** As many as of another rank may wait: see `messageWindowBytes` of peers. */
const OWN_BYTES_MAX = 256 * 1024

/**
 * Messages of all ranks, in the order of each. One of each rank is taken at a time, so that the others wait in the
 * window of their connection and hold their sender back.
 */
export class RankMessages {
  readonly #ready: { readonly message: RankMessage; readonly taken: () => void }[] = []
  readonly #takers: ((message: RankMessage | undefined) => void)[] = []
  readonly #peers: Peer[] = []
  readonly #keepAlive = new KeepAlive()
  /** Of messages to itself that were not taken yet. */
  #ownBytes = 0
  #isWanted = false
  #isClosed = false

  /** A rank is connected. */
  add(peer: Peer): void {
    if (this.#isWanted) void this.#pump(peer)
    else this.#peers.push(peer)
  }

  /** This rank's message to itself. Resolves once there is room for more of these. */
  async putOwn(message: RankMessage): Promise<void> {
    const { length } = message.bytes
    this.#ownBytes += length
    const taken = this.#put(message).then(() => {
      this.#ownBytes -= length
    })
    if (this.#ownBytes > OWN_BYTES_MAX) await taken
  }

  #put(message: RankMessage): Promise<void> {
    const taker = this.#takers.shift()
    if (taker !== undefined) {
      taker(message)
      return Promise.resolve()
    }
    return new Promise((taken) => this.#ready.push({ message, taken }))
  }

  /** Messages, each to one of those that iterate, until the group is closed. */
  async *all(options?: { readonly signal?: AbortSignal }): AsyncGenerator<RankMessage, void, undefined> {
    checkIteration('messages', options)
    this.#isWanted = true
    for (const peer of this.#peers.splice(0)) void this.#pump(peer)
    for (;;) {
      const message = await this.#keepAlive.during(this.#next(options?.signal))
      if (message === undefined) return
      yield message
    }
  }

  close(): void {
    this.#isClosed = true
    for (const { taken } of this.#ready.splice(0)) taken()
    for (const taker of this.#takers.splice(0)) taker(undefined)
  }

  async #pump(peer: Peer): Promise<void> {
    try {
      for await (const bytes of peer.messages()) await this.#put({ rank: peer.number, bytes })
    } catch {
      // Of a rank that has died, the group tells.
    }
  }

  #next(signal: AbortSignal | undefined): Promise<RankMessage | undefined> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const ready = this.#ready.shift()
      if (ready !== undefined || this.#isClosed) {
        ready?.taken()
        resolve(ready?.message)
        return
      }
      const abort = (): void => {
        this.#takers.splice(this.#takers.indexOf(take), 1)
        reject(signal?.reason)
      }
      const take = (message: RankMessage | undefined): void => {
        signal?.removeEventListener('abort', abort)
        resolve(message)
      }
      this.#takers.push(take)
      signal?.addEventListener('abort', abort, { once: true })
    })
  }
}
