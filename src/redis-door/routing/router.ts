import {
  type Call,
  type CommandSpec,
  type FaultReply,
  type IndexPort,
  type Looked,
  type Reply,
  SLOT_COUNT,
  slotOf,
} from '../../index-service/index.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { everywhere } from './everywhere.ts'
import { ShardLine } from './shard-line.ts'

/** A command of the index that a client asks for. */
export interface DataRequest {
  readonly spec: CommandSpec
  readonly call: Call
}

const APART: FaultReply = { fault: 'CROSSSLOT', message: "Keys in request don't hash to the same slot" }

/** Finds the shard of each call. */
export class Router {
  readonly port: IndexPort
  readonly #timeoutMs: number
  readonly #lines = new Map<number, ShardLine>()

  constructor(port: IndexPort, timeoutMs: number) {
    this.port = port
    this.#timeoutMs = timeoutMs
  }

  get shards(): number {
    return this.port.shards
  }

  get lines(): readonly ShardLine[] {
    return Array.from({ length: this.shards }, (_, shard) => this.line(shard))
  }

  line(shard: number): ShardLine {
    const known = this.#lines.get(shard)
    if (known !== undefined) return known
    const line = new ShardLine(this.port.shard(shard), this.#timeoutMs)
    this.#lines.set(shard, line)
    return line
  }

  lineOf(slot: number): ShardLine {
    return this.line(Math.floor((slot * this.shards) / SLOT_COUNT))
  }

  /** The slot of all keys; undefined without keys; a fault if they are in several, and there are several shards. */
  slotOf({ spec, call }: DataRequest): number | undefined | FaultReply {
    // There is one shard, so all keys are in it.
    if (this.shards === 1) return 0
    return commonSlot(keysOf(spec, call.args))
  }

  /** What memory says, for a read of one string or field; undefined: it has to be asked. */
  look({ name, args, db }: Call): Looked | undefined {
    const isGet = name.length === 3
    const key = args[0]!
    const shard = this.shards === 1 ? 0 : Math.floor((slotOf(key) * this.shards) / SLOT_COUNT)
    const { port } = this.line(shard)
    if (db !== 0 && db !== undefined) return undefined
    return isGet ? port.lookAt(key) : port.lookAtField(key, args[1]!)
  }

  /** A call that is about all keys, in all shards. */
  everywhere(request: DataRequest): Promise<DoorReply> {
    return everywhere(request, this.lines)
  }
}

export function keysOf(spec: CommandSpec, args: readonly Uint8Array[]): readonly Uint8Array[] {
  return spec.keys(args).flatMap((at) => args[at] ?? [])
}

/** Of keys of one command, or of several that are to run together. */
export function commonSlot(keys: readonly Uint8Array[]): number | undefined | FaultReply {
  let found: number | undefined
  for (const key of keys) {
    const slot = slotOf(key)
    if (found !== undefined && slot !== found) return APART
    found = slot
  }
  return found
}

export function isNoSlot(slot: number | undefined | FaultReply): slot is FaultReply {
  return typeof slot === 'object'
}

export type { Reply }
