import { Buffer } from 'node:buffer'
import type { Codec } from '../../codecs/index.ts'
import { DefectError } from '../../native/index.ts'
import { DATABASES_MAX, Databases } from './databases.ts'
import type { Call, PackedCalls, ShardCommand, Watched } from './shard-command.ts'
import { WireReader, WireWriter } from './wire.ts'

/**
 * A command of a shard as bytes. Counts and lengths are varints; waiters, versions and origins are Float64,
 * little-endian.
 *
 * ```
 *  calls    0 kind: 1   1 flags   waiter, if flag 1   bound (Float64), if flag 64
 *           watched, if flag 2: count, (db length key version) …
 *           count, (db origin length name count (length argument) …) …    db: only with flag 4, else all are 0
 *                                                                          flag 8: `apart`, 32: `admitted`
 *                                                                          origin: only with flag 16; 0: it has none
 *  expire   0 kind: 2
 *  cancel   0 kind: 3   1 waiter
 *  forget   0 kind: 4   1 count   waiter …
 *  evict    0 kind: 5   1 count   (db length key version) …
 * ```
 */
const Kind = { Calls: 1, Expire: 2, Cancel: 3, Forget: 4, Evict: 5 } as const
const HAS_WAITER = 1
const HAS_WATCHED = 2
const HAS_DATABASES = 4
const APART = 8
const HAS_ORIGINS = 16
const ADMITTED = 32
const HAS_BOUND = 64
const FLAGS_MAX = 127
const writer = new WireWriter()

function encode(command: ShardCommand): Uint8Array {
  if ('calls' in command) encodeCalls(command)
  else if ('packed' in command) encodePacked(command)
  else if ('cancel' in command) {
    writer.begin(Kind.Cancel)
    writer.f64(command.cancel)
  } else if ('forget' in command) {
    writer.begin(Kind.Forget)
    writer.count(command.forget.length)
    for (const waiter of command.forget) writer.f64(waiter)
  } else if ('evict' in command) {
    writer.begin(Kind.Evict)
    encodeWatched(command.evict, true)
  } else writer.begin(Kind.Expire)
  return writer.end()
}

function encodeCalls({
  calls,
  watched,
  waiter,
  apart,
  admitted,
  bound,
}: Extract<ShardCommand, { calls: unknown }>): void {
  const hasDatabases = calls.some(isElsewhere) || watched?.some(isElsewhere) === true
  const hasOrigins = calls.some(({ origin }) => origin !== undefined)
  writer.begin(Kind.Calls)
  writer.u8(
    (waiter === undefined ? 0 : HAS_WAITER) |
      (watched === undefined ? 0 : HAS_WATCHED) |
      (hasDatabases ? HAS_DATABASES : 0) |
      (apart === true ? APART : 0) |
      (hasOrigins ? HAS_ORIGINS : 0) |
      (admitted === true ? ADMITTED : 0) |
      (bound === undefined ? 0 : HAS_BOUND),
  )
  if (waiter !== undefined) writer.f64(waiter)
  if (bound !== undefined) writer.f64(bound)
  if (watched !== undefined) encodeWatched(watched, hasDatabases)
  writer.count(calls.length)
  for (const { name, args, db = 0, origin = 0 } of calls) {
    if (hasDatabases) writer.u8(db)
    if (hasOrigins) writer.f64(origin)
    writer.text(name)
    writer.count(args.length)
    for (const argument of args) writer.bytes(argument)
  }
}

function encodePacked({ packed, apart, bound }: Extract<ShardCommand, { packed: unknown }>): void {
  writer.begin(Kind.Calls)
  writer.u8((apart === true ? APART : 0) | (bound === undefined ? 0 : HAS_BOUND))
  if (bound !== undefined) writer.f64(bound)
  writer.count(packed.count)
  writer.append(packed.bytes)
}

function encodeWatched(watched: readonly Watched[], hasDatabases: boolean): void {
  writer.count(watched.length)
  for (const { key, version, db = 0 } of watched) {
    if (hasDatabases) writer.u8(db)
    writer.bytes(key)
    writer.f64(version)
  }
}

/** @throws DefectError if there is no such database. */
function isElsewhere({ db }: { readonly db?: number }): boolean {
  if (db === undefined || db === 0) return false
  if (!Databases.has(db)) throw new DefectError(`there is no database ${db}`)
  return true
}

function decode(bytes: Uint8Array): ShardCommand {
  return adopt(Buffer.from(bytes))
}

function adopt(bytes: Uint8Array): ShardCommand {
  const reader = new WireReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  const command = decodeKind(reader, reader.u8Below(Kind.Evict, 'kind'))
  reader.end()
  return command
}

function decodeKind(reader: WireReader, kind: number): ShardCommand {
  switch (kind) {
    case Kind.Calls:
      return decodeCalls(reader)
    case Kind.Cancel:
      return { cancel: reader.whole() }
    case Kind.Forget:
      return { forget: Array.from({ length: reader.countOfThings() }, () => reader.whole()) }
    case Kind.Expire:
      return { expire: true }
    case Kind.Evict:
      return { evict: decodeWatched(reader, true) }
    default:
      throw reader.damaged('its kind 0 is unknown')
  }
}

function decodeCalls(reader: WireReader): ShardCommand {
  const flags = reader.u8Below(FLAGS_MAX, 'set of flags')
  const waiter = (flags & HAS_WAITER) === 0 ? undefined : reader.whole()
  const bound = (flags & HAS_BOUND) === 0 ? undefined : reader.whole()
  if ((flags & ~(APART | HAS_BOUND)) === 0) return packedCommand(reader, (flags & APART) !== 0, bound)
  const hasDatabases = (flags & HAS_DATABASES) !== 0
  const watched = (flags & HAS_WATCHED) === 0 ? undefined : decodeWatched(reader, hasDatabases)
  const calls: Call[] = []
  for (let left = reader.countOfThings(); left > 0; left -= 1) calls.push(decodeCall(reader, flags))
  const apart = (flags & APART) !== 0
  const admitted = (flags & ADMITTED) !== 0
  return {
    calls,
    ...(watched && { watched }),
    ...(waiter !== undefined && { waiter }),
    ...(bound !== undefined && { bound }),
    ...(apart && { apart }),
    ...(admitted && { admitted }),
  }
}

/** Calls with nothing else to say stay as they are. They are read when they are run, so they are checked here. */
function packedCommand(reader: WireReader, apart: boolean, bound: number | undefined): ShardCommand {
  const count = reader.countOfThings()
  const begin = reader.at
  for (let left = count; left > 0; left -= 1) {
    reader.skipBytes()
    for (let args = reader.countOfThings(); args > 0; args -= 1) reader.skipBytes()
  }
  const packed = { count, bytes: reader.from(begin) }
  if (bound === undefined) return apart ? { packed, apart } : { packed }
  return apart ? { packed, apart, bound } : { packed, bound }
}

function decodeWatched(reader: WireReader, hasDatabases: boolean): Watched[] {
  const watched: Watched[] = []
  for (let left = reader.countOfThings(); left > 0; left -= 1) {
    const db = hasDatabases ? decodeDatabase(reader) : 0
    const one = { key: reader.bytes(), version: reader.whole() }
    watched.push(db === 0 ? one : { ...one, db })
  }
  return watched
}

function decodeDatabase(reader: WireReader): number {
  return reader.u8Below(DATABASES_MAX - 1, 'database')
}

function decodeCall(reader: WireReader, flags: number): Call {
  const db = (flags & HAS_DATABASES) === 0 ? 0 : decodeDatabase(reader)
  const origin = (flags & HAS_ORIGINS) === 0 ? 0 : reader.whole()
  const name = reader.text()
  const args: Uint8Array[] = []
  for (let left = reader.countOfThings(); left > 0; left -= 1) args.push(reader.bytes())
  if (origin === 0) return db === 0 ? { name, args } : { name, args, db }
  return { name, args, ...(db !== 0 && { db }), origin }
}

/** Reads packed calls one by one. Arguments are views. @throws IndexError */
export class CallReader {
  readonly #reader: WireReader

  constructor({ bytes }: PackedCalls) {
    this.#reader = new WireReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  }

  /** Where the next one begins. */
  get at(): number {
    return this.#reader.at
  }

  set at(at: number) {
    this.#reader.at = at
  }

  next(): Call {
    return decodeCall(this.#reader, 0)
  }
}

export function unpackCalls(packed: PackedCalls): Call[] {
  const reader = new CallReader(packed)
  return Array.from({ length: packed.count }, () => reader.next())
}

/** How commands for a shard become bytes. What it decodes keeps memory of its own. */
export const shardCodec: Codec<ShardCommand> = { name: 'aether.shard-command', encode, decode, adopt }
