import type { Reply } from '../commands/reply.ts'

/** Where a reply is written to. */
export interface ReplySink {
  u8(value: number): void
  count(value: number): void
  f64(value: number): void
  bytes(bytes: Uint8Array): void
  text(latin1: string): void
}

/** Where a reply is read from. */
export interface ReplySource {
  u8(): number
  count(): number
  f64(): number
  bytes(): Uint8Array
  text(): string
}

const Tag = {
  Null: 0,
  Count: 1,
  Number: 2,
  Bigint: 3,
  Status: 4,
  Bytes: 5,
  Double: 6,
  Fault: 7,
  List: 8,
  Pairs: 9,
  ByKey: 10,
  Map: 11,
  Set: 12,
} as const

/** Messages and statuses are latin1, as arguments within them are. */
export function writeReply(sink: ReplySink, reply: Reply): void {
  if (reply === null) sink.u8(Tag.Null)
  else if (typeof reply === 'number') writeNumber(sink, reply)
  else if (typeof reply === 'bigint') tagged(sink, Tag.Bigint).text(String(reply))
  else if (typeof reply === 'string') tagged(sink, Tag.Status).text(reply)
  else if (reply instanceof Uint8Array) tagged(sink, Tag.Bytes).bytes(reply)
  else if (isList(reply)) writeMany(sink, Tag.List, reply)
  else if (reply instanceof Map) writeMany(sink, Tag.Map, [...reply].flat())
  else if (reply instanceof Set) writeMany(sink, Tag.Set, [...reply])
  else if ('double' in reply) tagged(sink, Tag.Double).f64(reply.double)
  else if ('pairs' in reply) writeMany(sink, Tag.Pairs, reply.pairs)
  else if ('byKey' in reply) writeMany(sink, Tag.ByKey, reply.byKey)
  else if ('fault' in reply) {
    tagged(sink, Tag.Fault).text(reply.fault)
    sink.text(reply.message)
  }
}

function isList(reply: Reply): reply is readonly Reply[] {
  return Array.isArray(reply)
}

function writeNumber(sink: ReplySink, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) tagged(sink, Tag.Count).count(value)
  else tagged(sink, Tag.Number).f64(value)
}

function tagged(sink: ReplySink, tag: number): ReplySink {
  sink.u8(tag)
  return sink
}

function writeMany(sink: ReplySink, tag: number, replies: readonly Reply[]): void {
  tagged(sink, tag).count(replies.length)
  for (const reply of replies) writeReply(sink, reply)
}

/** @throws RangeError if it is not a reply. */
export function readReply(source: ReplySource): Reply {
  const tag = source.u8()
  switch (tag) {
    case Tag.Null:
      return null
    case Tag.Count:
      return source.count()
    case Tag.Number:
      return source.f64()
    case Tag.Bigint:
      return readBigint(source.text())
    case Tag.Status:
      return source.text()
    case Tag.Bytes:
      return source.bytes()
    case Tag.Double:
      return { double: source.f64() }
    case Tag.Fault:
      return { fault: source.text(), message: source.text() }
    default:
      return readMany(source, tag)
  }
}

function readBigint(text: string): bigint {
  if (!/^-?\d{1,20}$/.test(text)) throw new RangeError('a reply has a number that is not one')
  return BigInt(text)
}

function readMany(source: ReplySource, tag: number): Reply {
  if (tag > Tag.Set) throw new RangeError(`a reply has an unknown tag: ${tag}`)
  const replies: Reply[] = []
  for (let left = source.count(); left > 0; left -= 1) replies.push(readReply(source))
  switch (tag) {
    case Tag.List:
      return replies
    case Tag.Pairs:
      return { pairs: replies }
    case Tag.ByKey:
      return { byKey: replies }
    case Tag.Set:
      return new Set(replies)
    default:
      if (replies.length % 2 !== 0) throw new RangeError('a reply has a name without a value')
      return new Map(replies.flatMap((key, at) => (at % 2 === 0 ? [[key, replies[at + 1]!]] : [])))
  }
}
