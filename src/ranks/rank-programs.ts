/**
 * What the programs of a group's ranks do together: collectives, and messages to a rank. Loaded with the first call;
 * see `src/public/index.ts`.
 */
import { type MembershipView, type ProgramsHost, provideRankPrograms, type RankPrograms } from '../cluster/index.ts'
import type { CollectiveCall } from '../collectives/index.ts'
import type { PeerGroup, ShrinkOptions, VerbsLink } from '../messaging/index.ts'
import { RankCollectives } from './rank-collectives.ts'
import { RankLinks } from './rank-links.ts'
import { RankMessages } from './rank-messages.ts'

class Programs implements RankPrograms {
  readonly #rank: number
  readonly #links: RankLinks
  readonly #host: ProgramsHost
  #collectives: RankCollectives
  readonly #messages = new RankMessages()

  constructor(host: ProgramsHost) {
    this.#rank = host.rank
    this.#host = host
    this.#links = new RankLinks(host)
    this.#collectives = new RankCollectives(this.#links, host)
    this.#links.onPeer = (peer) => this.#messages.add(peer)
  }

  get failure(): Error | undefined {
    return this.#collectives.failure
  }

  carryOut<T>(call: CollectiveCall<T>): Promise<T> {
    return this.#collectives.carryOut(call)
  }

  carryOutSync<T>(call: CollectiveCall<T>): T {
    return this.#collectives.carryOutSync(call)
  }

  shrink(options: ShrinkOptions): Promise<PeerGroup> {
    return this.#collectives.shrink(options)
  }

  shrinkSync(options: ShrinkOptions): PeerGroup {
    return this.#collectives.shrinkSync(options)
  }

  regroup(view: MembershipView): void {
    this.#collectives.end()
    this.#collectives = new RankCollectives(this.#links, { ...this.#host, view })
  }

  send(rank: number, bytes: Uint8Array): Promise<void> {
    if (rank === this.#rank) return this.#messages.putOwn({ rank, bytes: bytes.slice() })
    return new Promise((resolve, reject) => {
      this.#links.whenConnected(rank, (peer) => {
        if (peer instanceof Error) reject(peer)
        else peer.send(bytes).then(resolve, reject)
      })
    })
  }

  messages(options?: { readonly signal?: AbortSignal }): ReturnType<RankMessages['all']> {
    return this.#messages.all(options)
  }

  link(rank: number): VerbsLink | undefined {
    return this.#links.link(rank)
  }

  fetch(): Promise<void> {
    return this.#links.fetch()
  }

  ended(rank: number, how: 'left' | 'died'): void {
    this.#links.ended(rank, how)
  }

  lookFromBarrier(blocking: boolean): void {
    if (blocking) this.#links.look()
    if (this.#links.hasBegun) this.#collectives.connect()
  }

  async close(): Promise<void> {
    this.#collectives.close()
    await this.#links.close()
    this.#messages.close()
  }
}

export const makePrograms = (host: ProgramsHost): RankPrograms => new Programs(host)

provideRankPrograms(() => makePrograms)
