import { Buffer } from 'node:buffer'
import type { Codec } from '../../codecs/index.ts'
import { IndexError } from '../errors.ts'
import type { Call, ShardCommand, Watched } from './shard-command.ts'

/**
 * A command of a shard as bytes. Counts and lengths are varints; waiters and versions are Float64, little-endian.
 *
 * ```
 *  calls    0 kind: 1   1 flags   waiter, if flag 1   watched, if flag 2: count, (length key version) …
 *           count, (length name count (length argument) …) …
 *  expire   0 kind: 2
 *  cancel   0 kind: 3   1 waiter
 *  forget   0 kind: 4   1 count   waiter …
 * ```
 */
const Kind = { Calls: 1, Expire: 2, Cancel: 3, Forget: 4 } as const
const HAS_WAITER = 1
const HAS_WATCHED = 2
const COUNT_BYTES_MAX = 8

class CommandWriter {
  #bytes = Buffer.allocUnsafe(4096)
  #length = 0

  begin(kind: number): void {
    this.#length = 0
    this.u8(kind)
  }

  /** Valid until the next command is written. */
  end(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  u8(value: number): void {
    this.#room(1)
    this.#bytes[this.#length++] = value
  }

  count(value: number): void {
    this.#room(COUNT_BYTES_MAX)
    let left = value
    for (; left >= 0x80; left = Math.floor(left / 0x80)) this.#bytes[this.#length++] = (left % 0x80) | 0x80
    this.#bytes[this.#length++] = left
  }

  f64(value: number): void {
    this.#room(8)
    this.#length = this.#bytes.writeDoubleLE(value, this.#length)
  }

  bytes(bytes: Uint8Array): void {
    this.count(bytes.length)
    this.#room(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  text(latin1: string): void {
    this.count(latin1.length)
    this.#room(latin1.length)
    this.#length += this.#bytes.write(latin1, this.#length, 'latin1')
  }

  #room(lengthBytes: number): void {
    if (this.#length + lengthBytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + lengthBytes))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}

class CommandReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  u8(): number {
    const value = this.#bytes[this.#at]
    if (value === undefined) throw this.#damaged('it is cut off')
    this.#at += 1
    return value
  }

  count(): number {
    let value = 0
    for (let scale = 1; scale < 2 ** 49; scale *= 0x80) {
      const byte = this.u8()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
    throw this.#damaged('a count is too long')
  }

  /** A count of things that take a byte at least each. */
  countOfThings(): number {
    const count = this.count()
    if (count > this.#bytes.length - this.#at) throw this.#damaged('it is cut off')
    return count
  }

  f64(): number {
    const value = this.#bytes.readDoubleLE(this.#skip(8))
    if (!Number.isSafeInteger(value)) throw this.#damaged('a number is not whole')
    return value
  }

  bytes(): Uint8Array {
    const length = this.count()
    const start = this.#skip(length)
    // Not a Buffer, of which to make a part takes longer.
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + start, length)
  }

  text(): string {
    const length = this.count()
    const start = this.#skip(length)
    return this.#bytes.toString('latin1', start, start + length)
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw this.#damaged('more follows after it')
  }

  #skip(lengthBytes: number): number {
    const start = this.#at
    if (lengthBytes > this.#bytes.length - start) throw this.#damaged('it is cut off')
    this.#at = start + lengthBytes
    return start
  }

  kind(): number {
    const kind = this.u8()
    if (kind < Kind.Calls || kind > Kind.Forget) throw this.#damaged(`its kind ${kind} is unknown`)
    return kind
  }

  flags(): number {
    const flags = this.u8()
    if (flags > (HAS_WAITER | HAS_WATCHED)) throw this.#damaged(`its flags ${flags} are unknown`)
    return flags
  }

  #damaged(how: string): IndexError {
    const what = `the command for a shard cannot be read: ${how}`
    const message = `${what}; run the same version of Aether in every process`
    return new IndexError('COMMAND', message, { offset: this.#at })
  }
}

const writer = new CommandWriter()

function encode(command: ShardCommand): Uint8Array {
  if ('calls' in command) encodeCalls(command)
  else if ('cancel' in command) {
    writer.begin(Kind.Cancel)
    writer.f64(command.cancel)
  } else if ('forget' in command) {
    writer.begin(Kind.Forget)
    writer.count(command.forget.length)
    for (const waiter of command.forget) writer.f64(waiter)
  } else writer.begin(Kind.Expire)
  return writer.end()
}

function encodeCalls({ calls, watched, waiter }: Extract<ShardCommand, { calls: unknown }>): void {
  writer.begin(Kind.Calls)
  writer.u8((waiter === undefined ? 0 : HAS_WAITER) | (watched === undefined ? 0 : HAS_WATCHED))
  if (waiter !== undefined) writer.f64(waiter)
  if (watched !== undefined) {
    writer.count(watched.length)
    for (const { key, version } of watched) {
      writer.bytes(key)
      writer.f64(version)
    }
  }
  writer.count(calls.length)
  for (const { name, args } of calls) {
    writer.text(name)
    writer.count(args.length)
    for (const argument of args) writer.bytes(argument)
  }
}

function decode(bytes: Uint8Array): ShardCommand {
  return adopt(Buffer.from(bytes))
}

function adopt(bytes: Uint8Array): ShardCommand {
  const reader = new CommandReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  const command = decodeKind(reader, reader.kind())
  reader.end()
  return command
}

function decodeKind(reader: CommandReader, kind: number): ShardCommand {
  switch (kind) {
    case Kind.Calls:
      return decodeCalls(reader)
    case Kind.Cancel:
      return { cancel: reader.f64() }
    case Kind.Forget:
      return { forget: Array.from({ length: reader.countOfThings() }, () => reader.f64()) }
    default:
      return { expire: true }
  }
}

function decodeCalls(reader: CommandReader): ShardCommand {
  const flags = reader.flags()
  const waiter = (flags & HAS_WAITER) === 0 ? undefined : reader.f64()
  const watched = (flags & HAS_WATCHED) === 0 ? undefined : decodeWatched(reader)
  const calls: Call[] = []
  for (let left = reader.countOfThings(); left > 0; left -= 1) calls.push(decodeCall(reader))
  return { calls, ...(watched && { watched }), ...(waiter !== undefined && { waiter }) }
}

function decodeWatched(reader: CommandReader): Watched[] {
  const watched: Watched[] = []
  for (let left = reader.countOfThings(); left > 0; left -= 1)
    watched.push({ key: reader.bytes(), version: reader.f64() })
  return watched
}

function decodeCall(reader: CommandReader): Call {
  const name = reader.text()
  const args: Uint8Array[] = []
  for (let left = reader.countOfThings(); left > 0; left -= 1) args.push(reader.bytes())
  return { name, args }
}

/** How commands for a shard become bytes. What it decodes keeps memory of its own. */
export const shardCodec: Codec<ShardCommand> = { name: 'aether.shard-command', encode, decode, adopt }
