import { Buffer } from 'node:buffer'
import type { Admission } from '../admission.ts'
import type { Reply } from '../commands/reply.ts'
import { againUntilKnown, type PlacedOrNot } from '../located.ts'
import type { Looked, LookedHash } from '../looked.ts'
import type { RecordLooks } from '../memory/record-looks.ts'
import { PIECE_BYTES } from '../node/index-contract.ts'
import type { CallLimits, ShardPort } from '../port.ts'
import { bytesOfCalls } from '../state/call-bytes.ts'
import type { SizesPart, SizesRequest } from '../state/prefix-sizes.ts'
import { unpackCalls } from '../state/shard-codec.ts'
import type { Call, PackedCalls, Watched } from '../state/shard-command.ts'
import type { NodeClient } from './client-line.ts'
import type { ForeignReads } from './foreign-reads.ts'
import type { RemoteReads } from './remote-reads.ts'

/** How much longer than its call a client waits for the end of a call that waits. */
const GRACE_MS = 5000
/** How long it looks for a node that makes a backup. */
const FIND_MS = 10_000

/** The index, as a shard of it knows it. */
interface ShardsIndex {
  ask<T>(
    shard: number,
    limits: CallLimits,
    isRead: boolean,
    ask: (client: NodeClient, options: { timeoutMs: number; signal: AbortSignal }) => Promise<T>,
  ): Promise<T>
  stream<T>(
    shard: number,
    limits: CallLimits,
    open: (client: NodeClient, options: { signal: AbortSignal }) => AsyncIterable<T>,
  ): AsyncGenerator<T, void, undefined>
  isHere(shard: number): boolean
  readsOf(shard: number): ForeignReads | undefined
  remoteReadsOf(shard: number): RemoteReads | undefined
  lookAgain(shard: number): void
}

/** A shard from outside. */
export class ShardClient implements ShardPort {
  readonly #index: ShardsIndex
  readonly #shard: number
  readonly #admission: Admission

  constructor(index: ShardsIndex, shard: number, admission: Admission) {
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
    return this.#admission.during(0, async () => {
      const looked = calls.length === 1 ? await this.#fetch(calls[0]!) : undefined
      return looked instanceof Uint8Array || looked === null ? [looked] : await this.#ask(calls, limits)
    })
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
    return this.#known(this.#index.readsOf(this.#shard)?.string(key, db))
  }

  lookAtField(key: Uint8Array, field: Uint8Array, db: number = 0): Looked | undefined {
    return this.#known(this.#index.readsOf(this.#shard)?.field(key, field, db))
  }

  lookAtHash(key: Uint8Array, db: number = 0): LookedHash | undefined {
    return this.#index.readsOf(this.#shard)?.hash(key, db)
  }

  async locate(key: Uint8Array, limits: CallLimits, field?: Uint8Array): Promise<PlacedOrNot> {
    const index = this.#index
    return await againUntilKnown(limits, async () => {
      const located = index.isHere(this.#shard)
        ? index.readsOf(this.#shard)?.locateHere(key, field)
        : await index.remoteReadsOf(this.#shard)?.locate(key, field)
      if (located === undefined) index.lookAgain(this.#shard)
      return located
    })
  }

  /** Only the process that holds the shard answers many at once. */
  looks(): RecordLooks | undefined {
    return undefined
  }

  #ask(calls: readonly Call[], limits: CallLimits): Promise<readonly Reply[]> {
    const request = { shard: this.#shard, calls, watched: undefined, apart: false }
    return this.#index.ask(this.#shard, limits, true, (client, options) => client.read(request, options))
  }

  /** A string or a field, by READs of the nodes' memory; undefined if a node has to be asked. */
  async #fetch({ name, args, db = 0 }: Call): Promise<Looked | undefined> {
    const reads = this.#index.remoteReadsOf(this.#shard)
    const [key, field] = args
    if (reads === undefined || key === undefined) return undefined
    const command = name.toUpperCase()
    let reading: Promise<Looked | undefined>
    if (command === 'GET' && args.length === 1) reading = reads.string(key, db)
    else if (command === 'HGET' && args.length === 2) reading = reads.field(key, field!, db)
    else return undefined
    const looked = await reading
    if (looked === undefined && reads.isUnsure) this.#index.lookAgain(this.#shard)
    return looked
  }

  /** While nothing can be looked at, look for what has changed. */
  #known(looked: Looked | undefined): Looked | undefined {
    if (looked === undefined && this.#index.remoteReadsOf(this.#shard) === undefined) this.#index.lookAgain(this.#shard)
    return looked
  }
}
