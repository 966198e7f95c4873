import {
  ArgumentError,
  checkMilliseconds,
  checkOptions,
  checkSignal,
  mustBe,
  type OptionNames,
} from '../../native/index.ts'
import { type FaultReply, isFault, type Reply } from '../commands/reply.ts'
import { commandNamed } from '../commands/table.ts'
import { IndexError } from '../errors.ts'
import { bytesOfKey, type IndexKey } from '../keys/index-key.ts'
import { shardOf } from '../keys/shard-of.ts'
import type { ValuePlace } from '../located.ts'
import type { CallLimits, IndexPort, ShardPort } from '../port.ts'
import type { Call, Watched } from '../state/shard-command.ts'

/** What is stored: text as UTF-8, numbers as their text, bytes as they are. */
export type IndexValue = string | number | bigint | Uint8Array

/** An argument of a command. */
export type IndexArgument = IndexValue

/** Options of calls. */
export interface IndexCallOptions {
  /** How long the call may take, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export const callNames: OptionNames<IndexCallOptions> = { timeoutMs: true, signal: true }

const DEFAULT_TIMEOUT_MS = 30_000
/** Longer ones would not fit into a piece of memory. */
const VALUE_BYTES_MAX = 4 * 2 ** 20

/** Makes calls of a port, and values of what they answer. */
export class IndexCaller {
  readonly port: IndexPort

  constructor(port: IndexPort) {
    this.port = port
  }

  /** The shard that a key is in. */
  shardOf(key: Uint8Array): ShardPort {
    const { port } = this
    return port.shard(shardOf(key, port.shards))
  }

  /** @throws IndexError for an error of the command; `outcome` if it is not known what became of it. */
  async one(call: Call, options: IndexCallOptions = {}): Promise<Reply> {
    return await this.oneIn(this.#shardOf([call], []), call, options)
  }

  /** The same in a certain shard, for a call without keys. */
  async oneIn(shard: ShardPort, call: Call, options: IndexCallOptions): Promise<Reply> {
    const limits = limitsOf(options)
    const isWrite = commandNamed(call.name)?.isWrite !== false
    const replies = await this.#timed(shard, [call], () =>
      isWrite ? shard.run([call], undefined, limits) : shard.read([call], limits),
    )
    return unlessFault(replies![0]!)
  }

  /** In each shard, for a call about all keys. */
  async everywhere(call: Call, options: IndexCallOptions): Promise<readonly Reply[]> {
    return await Promise.all(this.allShards.map((shard) => this.oneIn(shard, call, options)))
  }

  get allShards(): readonly ShardPort[] {
    return Array.from({ length: this.port.shards }, (_, number) => this.port.shard(number))
  }

  /** All or none of them, if the watched keys are what they were. */
  async all(
    calls: readonly Call[],
    watched: readonly Watched[] | undefined,
    options: IndexCallOptions,
  ): Promise<readonly Reply[] | undefined> {
    const shard = this.#shardOf(
      calls,
      (watched ?? []).map(({ key }) => key),
    )
    return (await this.#timed(shard, calls, () => shard.run(calls, watched, limitsOf(options)))) ?? undefined
  }

  /** A node notes what has taken long. Of a client, its node does. */
  async #timed<T>(shard: ShardPort, calls: readonly Call[], work: () => Promise<T>): Promise<T> {
    const { port } = this
    if (port.callsEnded === undefined) return await work()
    const startMs = performance.now()
    try {
      return await work()
    } finally {
      port.callsEnded(shard, calls, performance.now() - startMs)
    }
  }

  async wait(call: Call, waitMs: number, signal: AbortSignal | undefined): Promise<Reply> {
    checkMilliseconds('options.timeoutMs', waitMs)
    checkSignal('options.signal', signal)
    const port = this.#shardOf([call], [])
    return unlessFault(await port.wait(call, waitMs === Number.POSITIVE_INFINITY ? 0 : waitMs, signal))
  }

  /** Of all keys. @throws IndexError if they are in several. */
  #shardOf(calls: readonly Call[], others: readonly Uint8Array[]): ShardPort {
    const { shards } = this.port
    if (shards === 1) return this.port.shard(0)
    let found: number | undefined
    const see = (key: Uint8Array): void => {
      const shard = shardOf(key, shards)
      if (found !== undefined && found !== shard) throw new IndexError('REFUSED', APART, { outcome: 'not-applied' })
      found = shard
    }
    for (const key of others) see(key)
    for (const { name, args } of calls) {
      const places = commandNamed(name)?.keys(args) ?? []
      if (places.length === 0) throw new IndexError('REFUSED', keyless(name), { outcome: 'not-applied' })
      for (const at of places) if (args[at] !== undefined) see(args[at])
    }
    return this.port.shard(found ?? 0)
  }
}

/** @throws IndexError if the memory cannot be read from here, or something else is there. */
export async function placeIn(
  shard: ShardPort,
  key: Uint8Array,
  options: IndexCallOptions,
  field?: Uint8Array,
): Promise<ValuePlace | undefined> {
  const located = await shard.locate(key, limitsOf(options), field)
  if (located === undefined)
    throw new IndexError('UNREACHABLE', 'no memory that can be read from here now has the value; use get()')
  if (located === 'other type') throw errorOf({ fault: 'WRONGTYPE', message: '' })
  if (located === null) return undefined
  return located
}

/** Makes calls about one key. */
export class KeyCaller {
  readonly key: Uint8Array
  readonly #caller: IndexCaller

  constructor(caller: IndexCaller, key: Uint8Array) {
    this.#caller = caller
    this.key = key
  }

  get shard(): ShardPort {
    return this.#caller.shardOf(this.key)
  }

  /** `method`: whose options these are. */
  async call(
    method: string,
    name: string,
    args: readonly Uint8Array[],
    options: IndexCallOptions | undefined,
  ): Promise<Reply> {
    checkOptions(method, options, callNames)
    return await this.#caller.one({ name, args: [this.key, ...args] }, options)
  }

  async wait(
    call: string,
    args: readonly Uint8Array[],
    { timeoutMs = Number.POSITIVE_INFINITY, signal }: IndexCallOptions,
  ): Promise<Reply> {
    return await this.#caller.wait({ name: call, args: [this.key, ...args] }, timeoutMs, signal)
  }
}

function keyless(name: string): string {
  return `${name} has no key, and one call is about one shard; use size(), clear(), keys() or range(), which go over all`
}

const APART =
  'the keys are in different shards, and one call is about one shard; give the keys a common part in braces, such as {user:1}'

export function limitsOf({ timeoutMs = DEFAULT_TIMEOUT_MS, signal }: IndexCallOptions): CallLimits {
  checkMilliseconds('options.timeoutMs', timeoutMs)
  checkSignal('options.signal', signal)
  return { timeoutMs, signal }
}

/** A call on a key. */
export function callOf(name: string, key: IndexKey, ...rest: readonly IndexArgument[]): Call {
  return { name, args: [bytesOfKey(key), ...rest.map((argument) => bytesOfValue(argument))] }
}

export function bytesOfValue(value: IndexValue, name: string = 'value'): Uint8Array {
  // A copy: the caller may change its own before this one is sent.
  const bytes = value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(textOf(value, name))
  if (bytes.length > VALUE_BYTES_MAX)
    throw new ArgumentError(name, `a value has at most ${VALUE_BYTES_MAX} bytes, not ${bytes.length}`)
  return bytes
}

function textOf(value: Exclude<IndexValue, Uint8Array>, name: string): string {
  if (typeof value === 'string') return value
  if ((typeof value === 'number' && !Number.isNaN(value)) || typeof value === 'bigint') return String(value)
  throw mustBe(name, 'text, bytes or a number', value)
}

/** Memory of the caller's own. */
export function bufferOf(reply: Reply): Buffer | undefined {
  if (reply === null) return undefined
  if (Buffer.isBuffer(reply)) return reply
  const bytes = reply as Uint8Array
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

export function buffersOf(reply: Reply): Buffer[] {
  return [...(reply as Iterable<Reply>)].map((each) => bufferOf(each)!)
}

export function numberOf(reply: Reply): number {
  if (typeof reply === 'object' && reply !== null && 'double' in reply) return reply.double
  return Number(reply)
}

/** With bytes as buffers, which have more to them. */
export function owned(reply: Reply): Reply {
  if (typeof reply !== 'object' || reply === null) return reply
  if (reply instanceof Uint8Array) return bufferOf(reply)!
  if (reply instanceof Map) return new Map([...reply].map(([key, value]) => [owned(key), owned(value)]))
  if (reply instanceof Set) return new Set([...reply].map(owned))
  if (Array.isArray(reply)) return reply.map(owned)
  if ('pairs' in reply) return reply.pairs.map(owned)
  if ('byKey' in reply) return reply.byKey.map(owned)
  return 'double' in reply ? reply.double : reply
}

export function unlessFault(reply: Reply): Reply {
  if (isFault(reply)) throw errorOf(reply)
  return reply
}

function errorOf({ fault, message }: FaultReply): IndexError {
  if (fault === 'WRONGTYPE') return new IndexError('WRONG_TYPE', 'the key holds a value of another type')
  if (fault === 'OOM')
    return new IndexError('FULL', 'the memory of the index is full; delete keys, or give it more memory', {
      outcome: 'not-applied',
    })
  return new IndexError('REFUSED', fault === 'ERR' ? message : `${fault} ${message}`, { outcome: 'not-applied' })
}
