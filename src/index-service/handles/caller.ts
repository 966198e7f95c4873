import { ArgumentError, checkMilliseconds, checkSignal, mustBe } from '../../native/index.ts'
import { type FaultReply, isFault, type Reply } from '../commands/reply.ts'
import { commandNamed } from '../commands/table.ts'
import { IndexError } from '../errors.ts'
import { bytesOfKey, type IndexKey } from '../keys/index-key.ts'
import type { CallLimits, IndexPort } from '../port.ts'
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

const DEFAULT_TIMEOUT_MS = 30_000
/** Longer ones would not fit into a piece of memory. */
const VALUE_BYTES_MAX = 4 * 2 ** 20

/** Makes calls of a port, and values of what they answer. */
export class Caller {
  readonly port: IndexPort

  constructor(port: IndexPort) {
    this.port = port
  }

  /** @throws IndexError for an error of the command; `outcome` if it is not known what became of it. */
  async one(call: Call, options: IndexCallOptions = {}): Promise<Reply> {
    const limits = limitsOf(options)
    const isWrite = commandNamed(call.name)?.isWrite !== false
    const replies = isWrite ? await this.port.run([call], undefined, limits) : await this.port.read([call], limits)
    return unlessFault(replies![0]!)
  }

  /** All or none of them, if the watched keys are what they were. */
  async all(
    calls: readonly Call[],
    watched: readonly Watched[] | undefined,
    options: IndexCallOptions,
  ): Promise<readonly Reply[] | undefined> {
    return (await this.port.run(calls, watched, limitsOf(options))) ?? undefined
  }

  async wait(call: Call, waitMs: number, signal: AbortSignal | undefined): Promise<Reply> {
    checkMilliseconds('options.timeoutMs', waitMs)
    checkSignal('options.signal', signal)
    return unlessFault(await this.port.wait(call, waitMs === Number.POSITIVE_INFINITY ? 0 : waitMs, signal))
  }
}

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
  const bytes = typeof value === 'object' ? value : Buffer.from(textOf(value, name))
  if (!(bytes instanceof Uint8Array)) throw mustBe(name, 'text, bytes or a number', value)
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
