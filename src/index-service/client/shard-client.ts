import { Buffer } from 'node:buffer'
import type { Admission } from '../admission.ts'
import type { Reply } from '../commands/reply.ts'
import { againUntilKnown, type LocatedOrNot } from '../located.ts'
import type { Looked } from '../looked.ts'
import type { RecordLooks } from '../memory/record-looks.ts'
import { PIECE_BYTES } from '../node/index-contract.ts'
import type { CallLimits, ShardPort } from '../port.ts'
import { bytesOfCalls } from '../state/call-bytes.ts'
import type { SizesPart, SizesRequest } from '../state/prefix-sizes.ts'
import { unpackCalls } from '../state/shard-codec.ts'
import type { Call, PackedCalls, Watched } from '../state/shard-command.ts'
import type { IndexClient } from './index-client.ts'

/** How much longer than its call a client waits for the end of a call that waits. */
const GRACE_MS = 5000
/** How long it looks for a node that makes a backup. */
const FIND_MS = 10_000

/** A shard from outside. */
export class ShardClient implements ShardPort {
  readonly #index: IndexClient
  readonly #shard: number
  readonly #admission: Admission

  constructor(index: IndexClient, shard: number, admission: Admission) {
    this.#index = index
    this.#shard = shard
    this.#admission = admission
  }

  run(
    calls: readonly Call[],
    watched: readonly Watched[] | undefined,
    limits: CallLimits,
    apart: boolean = false,
  ): Promise<readonly Reply[] | null> {
    const request = { shard: this.#shard, calls, watched, apart }
    return this.#admission.during(bytesOfCalls(calls), () =>
      this.#index.ask(this.#shard, limits, false, (client, options) => client.run(request, options)),
    )
  }

  async runPacked(packed: PackedCalls, limits: CallLimits): Promise<readonly Reply[]> {
    return (await this.run(unpackCalls(packed), undefined, limits, packed.count > 1))!
  }

  read(calls: readonly Call[], limits: CallLimits): Promise<readonly Reply[]> {
    const request = { shard: this.#shard, calls }
    return this.#admission.during(0, () =>
      this.#index.ask(this.#shard, limits, true, (client, options) => client.read(request, options)),
    )
  }

  versions(keys: readonly Uint8Array[], limits: CallLimits, db: number = 0): Promise<readonly number[]> {
    const request = { shard: this.#shard, keys, db }
    return this.#admission.during(0, () =>
      this.#index.ask(this.#shard, limits, true, (client, options) => client.versions(request, options)),
    )
  }

  wait(call: Call, waitMs: number, signal: AbortSignal | undefined): Promise<Reply> {
    const request = { shard: this.#shard, call, waitMs }
    const limits = { timeoutMs: waitMs === 0 ? Number.POSITIVE_INFINITY : waitMs + GRACE_MS, signal }
    return this.#index.ask(this.#shard, limits, false, (client, options) => client.wait(request, options))
  }

  async *backup(): AsyncGenerator<Uint8Array, void, undefined> {
    const limits = { timeoutMs: FIND_MS, signal: undefined }
    let pieces: Uint8Array[] = []
    for await (const piece of this.#index.stream(this.#shard, limits, (client) =>
      client.backup({ shard: this.#shard }),
    )) {
      pieces.push(piece)
      if (piece.length === PIECE_BYTES) continue
      yield pieces.length === 1 ? piece : Buffer.concat(pieces)
      pieces = []
    }
  }

  sizes(request: SizesRequest, limits: CallLimits): Promise<SizesPart> {
    const asked = { ...request, shard: this.#shard }
    return this.#index.ask(this.#shard, limits, true, (client, options) => client.sizes(asked, options))
  }

  lookAt(key: Uint8Array, db: number = 0): Looked | undefined {
    const looked = this.#index.readsOf(this.#shard)?.string(key, db)
    if (looked === undefined) this.#index.lookAgain(this.#shard)
    return looked
  }

  lookAtField(key: Uint8Array, field: Uint8Array, db: number = 0): Looked | undefined {
    const looked = this.#index.readsOf(this.#shard)?.field(key, field, db)
    if (looked === undefined) this.#index.lookAgain(this.#shard)
    return looked
  }

  async locate(key: Uint8Array, limits: CallLimits, field?: Uint8Array): Promise<LocatedOrNot> {
    if (!this.#index.isHere(this.#shard)) return undefined
    return await againUntilKnown(limits, () => {
      const located = this.#index.readsOf(this.#shard)?.locate(key, field)
      if (located === undefined) this.#index.lookAgain(this.#shard)
      return located
    })
  }

  /** Only the process that holds the shard answers many at once. */
  looks(): RecordLooks | undefined {
    return undefined
  }
}
