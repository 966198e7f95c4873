import { bytesOf, type Call, type CommandSpec, latin1Of, type Reply } from '../../index-service/index.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { isFault } from '../protocol/reply-writer.ts'
import type { ShardLine } from './shard-line.ts'

type Merge = (replies: readonly Reply[]) => Reply

const sum: Merge = (replies) => replies.reduce<number>((total, reply) => total + Number(reply), 0)
const all: Merge = (replies) => replies.flatMap((reply) => [...(reply as readonly Reply[])])
const first: Merge = (replies) => replies[0]!
const any: Merge = (replies) => replies.find((reply) => reply !== null) ?? null

/** What commands about all keys answer in all shards together. */
const merges: Readonly<Record<string, Merge>> = {
  dbsize: sum,
  keys: all,
  flushdb: first,
  flushall: first,
  swapdb: first,
  randomkey: any,
  time: first,
}

interface Everywhere {
  readonly spec: CommandSpec
  readonly call: Call
}

/** Run a call without keys in each shard. */
export async function everywhere({ spec, call }: Everywhere, lines: readonly ShardLine[]): Promise<DoorReply> {
  if (spec.name === 'scan') return await scan(call, lines)
  const merge = merges[spec.name] ?? first
  const asked = merge === first && !spec.isWrite ? lines.slice(0, 1) : shuffledFor(spec.name, lines)
  const replies = await Promise.all(asked.map((line) => askOne(line, spec, call)))
  return replies.find((reply) => isFault(reply)) ?? merge(replies)
}

/** A random key is of any shard. */
function shuffledFor(name: string, lines: readonly ShardLine[]): readonly ShardLine[] {
  if (name !== 'randomkey') return lines
  const from = Math.floor(Math.random() * lines.length)
  return [...lines.slice(from), ...lines.slice(0, from)]
}

async function askOne(line: ShardLine, spec: CommandSpec, call: Call): Promise<Reply> {
  const [reply] = await (spec.isWrite ? line.write([call]) : line.read([call]))
  return reply!
}

/** One shard after the other: a cursor is that of a shard, times how many there are, and its number. */
async function scan(call: Call, lines: readonly ShardLine[]): Promise<DoorReply> {
  const text = latin1Of(call.args[0] ?? new Uint8Array())
  if (!/^\d{1,19}$/.test(text)) return { fault: 'ERR', message: 'invalid cursor' }
  const cursor = BigInt(text)
  const count = BigInt(lines.length)
  const shard = Number(cursor % count)
  const args = [bytesOf(String(cursor / count)), ...call.args.slice(1)]
  const [reply] = await lines[shard]!.read([{ ...call, args }])
  if (isFault(reply!)) return reply
  const [next, keys] = reply as readonly [Uint8Array, Reply]
  const inner = BigInt(latin1Of(next))
  if (inner !== 0n) return [bytesOf(String(inner * count + BigInt(shard))), keys]
  return [bytesOf(shard + 1 < lines.length ? String(shard + 1) : '0'), keys]
}
