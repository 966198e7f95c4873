import { Buffer } from 'node:buffer'
import type { Codec } from '../../codecs/index.ts'
import type { Reply } from '../commands/reply.ts'
import { copyOf } from '../memory/copy.ts'
import { readReply, writeReply } from './reply-format.ts'
import { shardCodec, unpackCalls } from './shard-codec.ts'
import type { Call, Watched } from './shard-command.ts'
import { WireReader, WireWriter } from './wire.ts'

/** Calls for a shard, from a client to a node. */
export interface CallsRequest {
  readonly shard: number
  readonly calls: readonly Call[]
  readonly watched: readonly Watched[] | undefined
  /** They have nothing to do with each other. */
  readonly apart: boolean
}

/** What a client sends, or what it is answered; `null` if a watched key has changed. */
type CallsExchange = CallsRequest | readonly Reply[] | null

/**
 * What clients send and nodes answer, as bytes.
 *
 * ```
 *  request   0 kind: 128   shard (varint)   calls, as `shard-codec.ts` has them
 *  replies   0 kind: 129   count reply …    replies: as `reply-format.ts` has them
 *  changed   0 kind: 130
 * ```
 */
const Kind = { Request: 128, Replies: 129, Changed: 130 } as const

/** The memory of longer messages is not kept. */
const KEPT_BYTES_MAX = 2 ** 20
/** Bytes in replies are views of a copy up to here. Of longer ones each has its own: a program may keep a few. */
const WHOLE_BYTES_MAX = 16 * 1024

let writer = new WireWriter()

function encode(exchange: CallsExchange): Uint8Array {
  if (exchange === null) writer.begin(Kind.Changed)
  else if (isReplies(exchange)) {
    writer.begin(Kind.Replies)
    writer.count(exchange.length)
    for (const reply of exchange) writeReply(writer, reply)
  } else {
    const { shard, calls, watched, apart } = exchange
    writer.begin(Kind.Request)
    writer.count(shard)
    writer.append(shardCodec.encode(watched === undefined ? { calls, apart } : { calls, watched, apart }))
  }
  const bytes = writer.end()
  if (bytes.length > KEPT_BYTES_MAX) writer = new WireWriter()
  return bytes
}

function isReplies(exchange: CallsRequest | readonly Reply[]): exchange is readonly Reply[] {
  return Array.isArray(exchange)
}

function decode(bytes: Uint8Array): CallsExchange {
  const isWhole = bytes[0] === Kind.Request || bytes.length <= WHOLE_BYTES_MAX
  const source = isWhole ? Buffer.from(bytes) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const reader = new WireReader(source, isWhole ? viewOf : copyOf)
  const kind = reader.u8()
  if (kind === Kind.Request) return decodeRequest(reader, source)
  if (kind !== Kind.Replies && kind !== Kind.Changed) throw reader.damaged(`its kind ${kind} is unknown`)
  const replies: Reply[] = []
  if (kind === Kind.Replies)
    for (let left = reader.countOfThings(); left > 0; left -= 1) replies.push(readReply(reader))
  reader.end()
  return kind === Kind.Replies ? replies : null
}

function decodeRequest(reader: WireReader, source: Buffer): CallsRequest {
  const shard = reader.count()
  const command = shardCodec.adopt!(source.subarray(reader.at))
  if ('packed' in command) {
    const { packed, apart = false } = command
    return { shard, calls: unpackCalls(packed), watched: undefined, apart }
  }
  if (!('calls' in command)) throw reader.damaged('it has no calls')
  const { calls, watched, apart = false } = command
  return { shard, calls, watched, apart }
}

/** A Buffer, as programs get them. */
function viewOf(bytes: Buffer, begin: number, end: number): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset + begin, end - begin)
}

/** How calls of clients and their answers cross. What it decodes keeps memory of its own. */
export const exchangeCodec: Codec<CallsExchange> = { name: 'aether.index-calls', encode, decode }
