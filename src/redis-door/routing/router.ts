import {
  type Call,
  type CommandSpec,
  type FaultReply,
  type IndexPort,
  type Looked,
  type RecordLooks,
  SLOT_COUNT,
  slotOf,
} from '../../index-service/index.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import type { Request } from '../protocol/request.ts'
import { everywhere } from './everywhere.ts'
import { ShardLine, type ShardLineOptions } from './shard-line.ts'

/** A command of the index that a client asks for. */
export interface DataRequest {
  readonly spec: CommandSpec
  readonly call: Call
  /** As it was asked. */
  readonly request: Request
}

export interface RouterOptions extends ShardLineOptions {
  readonly isCluster: boolean
}

const APART: FaultReply = { fault: 'CROSSSLOT', message: "Keys in request don't hash to the same slot" }

/** Finds the shard of each call. */
export class Router {
  readonly #port: IndexPort
  readonly #options: RouterOptions
  readonly #lines = new Map<number, ShardLine>()
  #isGathering = false
  #sendsLater = false

  constructor(port: IndexPort, options: RouterOptions) {
    this.#port = port
    this.#options = options
  }

  get shards(): number {
    return this.#port.shards
  }

  get lines(): readonly ShardLine[] {
    return Array.from({ length: this.shards }, (_, shard) => this.line(shard))
  }

  line(shard: number): ShardLine {
    const known = this.#lines.get(shard)
    if (known !== undefined) return known
    const line = new ShardLine(
      () => this.#port.shard(shard),
      this.#options,
      () => this.#sendLater(),
    )
    this.#lines.set(shard, line)
    return line
  }

  /** What comes during `turn` is sent at its end: no more comes in this turn of the event loop. */
  gather(turn: () => void): void {
    this.#isGathering = true
    try {
      turn()
    } finally {
      this.#isGathering = false
      this.#send()
    }
  }

  #sendLater(): void {
    if (this.#isGathering || this.#sendsLater) return
    this.#sendsLater = true
    setImmediate(() => {
      this.#sendsLater = false
      this.#send()
    })
  }

  #send(): void {
    for (const line of this.#lines.values()) line.send()
  }

  lineOf(slot: number): ShardLine {
    return this.line(this.shardOf(slot))
  }

  shardOf(slot: number): number {
    return Math.floor((slot * this.shards) / SLOT_COUNT)
  }

  /** The slot of all keys; undefined without keys; a fault if they are in several, and there are several shards. */
  slotOf({ spec, call }: DataRequest): number | undefined | FaultReply {
    if (this.shards > 1 || this.#options.isCluster)
      return this.commonSlot(keysOf(spec, call.args)) ?? (this.shards === 1 ? 0 : undefined)
    return 0
  }

  /** The slot of several keys; undefined without keys. With one shard, any slot is right. */
  commonSlot(keys: readonly Uint8Array[]): number | undefined | FaultReply {
    if (this.shards === 1 && !this.#options.isCluster) return 0
    let found: number | undefined
    for (const key of keys) {
      const slot = slotOf(key)
      if (found !== undefined && slot !== found) return APART
      found = slot
    }
    return found
  }

  /** What memory says, for a read of one string or field; undefined: it has to be asked. */
  look({ name, args, db }: Call): Looked | undefined {
    const isGet = name.length === 3
    const key = args[0]!
    const { port } = this.line(this.shards === 1 ? 0 : this.shardOf(slotOf(key)))
    if (db !== 0 && db !== undefined) return undefined
    return isGet ? port.lookAt(key) : port.lookAtField(key, args[1]!)
  }

  /** What answers reads at once, whatever their key: with one shard, if its memory is here. */
  looks(): RecordLooks | undefined {
    return this.shards === 1 && !this.#options.isCluster ? this.line(0).port.looks() : undefined
  }

  /** The way of all keys, if there is only one shard. */
  onlyLine(): ShardLine | undefined {
    return this.shards === 1 && !this.#options.isCluster ? this.line(0) : undefined
  }

  /** A call that is about all keys, in all shards. */
  everywhere(request: DataRequest): Promise<DoorReply> {
    return everywhere(request, this.lines)
  }
}

export function keysOf(spec: CommandSpec, args: readonly Uint8Array[]): readonly Uint8Array[] {
  return spec.keys(args).flatMap((at) => args[at] ?? [])
}

export function isNoSlot(slot: number | undefined | FaultReply): slot is FaultReply {
  return typeof slot === 'object'
}
