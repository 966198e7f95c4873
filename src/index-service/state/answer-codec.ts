import { Buffer } from 'node:buffer'
import type { Codec } from '../../codecs/index.ts'
import type { Reply } from '../commands/reply.ts'
import { readReply, writeReply } from './reply-format.ts'
import type { ShardAnswer } from './shard-command.ts'
import { WireReader, WireWriter } from './wire.ts'

/**
 * What a shard answers as bytes: a kind, and what belongs to it. Replies are as `reply-format.ts` lays them out.
 *
 * ```
 *  changed    0 kind: 0                                   forgotten  0 kind: 6   1 count (Float64)
 *  replies    0 kind: 1   count reply …                   served     0 kind: 4   1 reply
 *  waiting    0 kind: 2                                   cancelled  0 kind: 5   1 whether it waited: 0 or 1
 *  expired    0 kind: 3   1 count (Float64)   9 next (Float64)
 *  evicted    0 kind: 7   1 count (Float64)
 * ```
 */
const Kind = {
  Changed: 0,
  Replies: 1,
  Waiting: 2,
  Expired: 3,
  Served: 4,
  Cancelled: 5,
  Forgotten: 6,
  Evicted: 7,
} as const

const writer = new WireWriter()

function encode(answer: ShardAnswer): Uint8Array {
  if (answer === null) writer.begin(Kind.Changed)
  else if (isReplies(answer)) {
    writer.begin(Kind.Replies)
    writer.count(answer.length)
    for (const reply of answer) writeReply(writer, reply)
  } else if ('waiting' in answer) writer.begin(Kind.Waiting)
  else if ('expired' in answer) {
    writer.begin(Kind.Expired)
    writer.f64(answer.expired)
    writer.f64(answer.nextMs)
  } else if ('served' in answer) {
    writer.begin(Kind.Served)
    writeReply(writer, answer.served)
  } else if ('cancelled' in answer) {
    writer.begin(Kind.Cancelled)
    writer.u8(answer.cancelled ? 1 : 0)
  } else if ('evicted' in answer) {
    writer.begin(Kind.Evicted)
    writer.f64(answer.evicted)
  } else {
    writer.begin(Kind.Forgotten)
    writer.f64(answer.forgotten)
  }
  return writer.end()
}

function isReplies(answer: ShardAnswer): answer is readonly Reply[] {
  return Array.isArray(answer)
}

function decode(bytes: Uint8Array): ShardAnswer {
  const reader = new WireReader(Buffer.from(bytes))
  const answer = decodeKind(reader)
  reader.end()
  return answer
}

function decodeKind(reader: WireReader): ShardAnswer {
  switch (reader.u8Below(Kind.Evicted, 'kind')) {
    case Kind.Changed:
      return null
    case Kind.Replies: {
      const replies: Reply[] = []
      for (let left = reader.countOfThings(); left > 0; left -= 1) replies.push(readReply(reader))
      return replies
    }
    case Kind.Waiting:
      return { waiting: true }
    case Kind.Expired:
      return { expired: reader.f64(), nextMs: reader.f64() }
    case Kind.Served:
      return { served: readReply(reader) }
    case Kind.Cancelled:
      return { cancelled: reader.u8() === 1 }
    case Kind.Evicted:
      return { evicted: reader.f64() }
    default:
      return { forgotten: reader.f64() }
  }
}

/** How a shard's answers become bytes. What it decodes keeps memory of its own. */
export const answerCodec: Codec<ShardAnswer> = { name: 'aether.shard-answer', encode, decode }
