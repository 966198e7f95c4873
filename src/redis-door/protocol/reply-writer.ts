import { Buffer } from 'node:buffer'
import type { FaultReply, Reply } from '../../index-service/index.ts'
import { type DoorReply, type NO_REPLY, NULL_ARRAY, type TaggedReply } from './door-reply.ts'

/** Version of RESP. */
export type ProtocolVersion = 2 | 3

const START_BYTES = 1024
/** Whole numbers up to this one are written without a string. */
const SMALL_MAX = 0x7fffffff
const [COLON, ZERO, CR, LF] = [0x3a, 0x30, 0x0d, 0x0a]
/** Shorter than a call for what is usual. */
const WRITTEN_BY_LOOP_MAX = 24
/** A buffer that grew beyond this is not kept. */
const KEPT_BYTES = 16 * 1024

/**
 * Replies as bytes of RESP2 or RESP3, one behind the other.
 * https://redis.io/docs/latest/develop/reference/protocol-spec/
 */
export class ReplyWriter {
  #bytes = Buffer.allocUnsafe(START_BYTES)
  #length = 0
  #version: ProtocolVersion = 2
  readonly #onFault: (code: string) => void

  /** `onFault` is called with the code of each error, also of those within a reply. */
  constructor(onFault: (code: string) => void = () => undefined) {
    this.#onFault = onFault
  }

  get length(): number {
    return this.#length
  }

  /** What was written since {@link reset}, until something else is. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  /** The same, as memory of its own, and {@link reset}. */
  take(): Buffer {
    const taken = Buffer.from(this.bytes)
    this.reset()
    return taken
  }

  reset(): void {
    this.#length = 0
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(START_BYTES)
  }

  /** Room for what others encode: at least `bytes`. They say by {@link wrote} how much it is. */
  room(bytes: number): Uint8Array {
    this.#room(bytes)
    return this.#bytes.subarray(this.#length)
  }

  wrote(bytes: number): void {
    this.#length += bytes
  }

  /** What is encoded already. */
  writeBytes(bytes: Uint8Array): void {
    this.#room(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  write(reply: DoorReply, version: ProtocolVersion): void {
    this.#version = version
    this.#write(reply)
  }

  #write(reply: DoorReply): void {
    if (reply === null) this.#ascii(this.#version === 2 ? '$-1\r\n' : '_\r\n')
    else if (reply instanceof Uint8Array) this.#bulk(reply)
    else if (reply === 'OK') this.#ascii('+OK\r\n')
    else if (typeof reply === 'string') this.#simple('+', reply)
    else if (typeof reply === 'number' || typeof reply === 'bigint') this.#integer(reply)
    else if (typeof reply === 'symbol') this.#writeSymbol(reply)
    else if (isList(reply)) this.#many('*', reply)
    else if (reply instanceof Map) this.#writeMap(reply)
    else if (reply instanceof Set) this.#many(this.#version === 2 ? '*' : '~', [...reply])
    else this.#writeObject(reply as Exclude<typeof reply, ReadonlyMap<Reply, Reply> | ReadonlySet<Reply>>)
  }

  #writeSymbol(reply: typeof NULL_ARRAY | typeof NO_REPLY): void {
    if (reply === NULL_ARRAY) this.#ascii(this.#version === 2 ? '*-1\r\n' : '_\r\n')
  }

  #writeMap(map: ReadonlyMap<Reply, Reply>): void {
    this.#head(this.#version === 2 ? '*' : '%', this.#version === 2 ? map.size * 2 : map.size)
    for (const [key, value] of map) {
      this.#write(key)
      this.#write(value)
    }
  }

  #writeObject(reply: TaggedReply): void {
    if ('fault' in reply) {
      if (!('isCounted' in reply)) this.#onFault(reply.fault)
      this.#simple('-', reply.message === '' ? reply.fault : `${reply.fault} ${reply.message}`)
    } else if ('double' in reply) this.#double(reply.double)
    else if ('pairs' in reply) this.#writePairs(reply.pairs)
    else if ('byKey' in reply) this.#writeByKey(reply.byKey)
    else if ('verbatim' in reply) this.#verbatim(Buffer.from(reply.verbatim), 'txt')
    else if ('formatted' in reply) this.#verbatim(reply.formatted, reply.format)
    else if ('bigNumber' in reply) this.#bigNumber(reply.bigNumber)
    else if ('truth' in reply)
      this.#ascii(this.#version === 2 ? `:${Number(reply.truth)}\r\n` : reply.truth ? '#t\r\n' : '#f\r\n')
    else if ('push' in reply) this.#many(this.#version === 2 ? '*' : '>', reply.push)
    else if ('list' in reply) this.#many('*', reply.list)
    else this.#writeTable(reply.table)
  }

  #writePairs(pairs: readonly Reply[]): void {
    if (this.#version === 2) {
      this.#many('*', pairs)
      return
    }
    this.#head('*', pairs.length / 2)
    for (let at = 0; at < pairs.length; at += 2) this.#many('*', pairs.slice(at, at + 2))
  }

  #writeByKey(byKey: readonly Reply[]): void {
    if (this.#version === 3) {
      this.#writeTable(byKey)
      return
    }
    this.#head('*', byKey.length / 2)
    for (let at = 0; at < byKey.length; at += 2) this.#many('*', byKey.slice(at, at + 2))
  }

  #writeTable(table: readonly DoorReply[]): void {
    this.#head(this.#version === 2 ? '*' : '%', this.#version === 2 ? table.length : table.length / 2)
    for (const each of table) this.#write(each)
  }

  #many(mark: string, replies: readonly DoorReply[]): void {
    this.#head(mark, replies.length)
    for (const reply of replies) this.#write(reply)
  }

  #head(mark: string, count: number): void {
    this.#ascii(`${mark}${count}\r\n`)
  }

  #bulk(bytes: Uint8Array): void {
    this.#head('$', bytes.length)
    this.#room(bytes.length + 2)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
    this.#ascii('\r\n')
  }

  #double(value: number): void {
    const text = doubleText(value)
    this.#ascii(this.#version === 2 ? `$${text.length}\r\n${text}\r\n` : `,${text}\r\n`)
  }

  #bigNumber(text: string): void {
    const line = oneLine(text)
    if (this.#version === 2) this.#bulk(Buffer.from(line, 'latin1'))
    else this.#ascii(`(${line}\r\n`)
  }

  #verbatim(bytes: Uint8Array, format: string): void {
    if (this.#version === 2) {
      this.#bulk(bytes)
      return
    }
    this.#head('=', bytes.length + 4)
    this.#ascii(`${format}:`)
    this.#room(bytes.length + 2)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
    this.#ascii('\r\n')
  }

  #simple(mark: string, text: string): void {
    this.#ascii(`${mark}${oneLine(text)}\r\n`)
  }

  #integer(value: number | bigint): void {
    if (typeof value === 'bigint' || value < 0 || value > SMALL_MAX) {
      this.#ascii(`:${wholeText(value)}\r\n`)
      return
    }
    let digits = 1
    for (let power = 10; power <= value; power *= 10) digits += 1
    this.#room(digits + 3)
    const bytes = this.#bytes
    bytes[this.#length] = COLON
    let left = value
    for (let at = this.#length + digits; at > this.#length; at -= 1) {
      bytes[at] = ZERO + (left % 10)
      left = (left / 10) | 0
    }
    bytes[this.#length + digits + 1] = CR
    bytes[this.#length + digits + 2] = LF
    this.#length += digits + 3
  }

  #ascii(text: string): void {
    const { length } = text
    this.#room(length)
    if (length > WRITTEN_BY_LOOP_MAX) this.#bytes.write(text, this.#length, 'latin1')
    else for (let at = 0; at < length; at += 1) this.#bytes[this.#length + at] = text.charCodeAt(at)
    this.#length += length
  }

  #room(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

/** A line of latin1 may have no end in it. */
function oneLine(text: string): string {
  return /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, ' ') : text
}

function isList(reply: DoorReply): reply is readonly Reply[] {
  return Array.isArray(reply)
}

export function isFault(reply: DoorReply): reply is FaultReply {
  return typeof reply === 'object' && reply !== null && 'fault' in reply
}

/** As C's %.17g writes it, and whole numbers as such. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  if (Object.is(value, -0)) return '-0'
  if (Number.isInteger(value) && Math.abs(value) < 1e17) return wholeText(value)
  const [mantissa, exponent] = value.toExponential(16).split('e') as [string, string]
  const power = Number(exponent)
  if (power >= -4 && power < 17) return trimmed(value.toFixed(Math.min(100, 16 - power)))
  return `${trimmed(mantissa)}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** All digits: JavaScript leaves some out beyond 2^53. */
function wholeText(value: number | bigint): string {
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : String(BigInt(value))
}

function trimmed(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal
}
