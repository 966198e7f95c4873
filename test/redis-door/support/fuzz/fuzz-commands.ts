import assert from 'node:assert/strict'
import { Picker } from '../../../index-service/support/program-parts.ts'
import type { Command } from '../../../index-service/support/programs.ts'
import { drawBatch, drawWait, drawWatch } from './batches.ts'
import { shownAnswer } from './same-answer.ts'
import { encoded, Wire, type WireReply } from './wire.ts'

const CLIENTS = 4
const PATIENCE_MS = 20_000

/** A client at both servers. */
interface Pair {
  readonly own: Wire
  readonly theirs: Wire
  /** What each server calls it. */
  readonly ids: readonly [own: string, theirs: string]
  /** What waits for EXEC. */
  queued: Command[]
  /** What it waits with. */
  waits: Command | undefined
}

export interface CommandFuzz {
  /** Of the door: its port. Of redis-server: its socket. */
  readonly own: number
  readonly theirs: string
  readonly seed: number
  readonly commands: number
}

/**
 * Several clients of each server ask the same, in the same order: commands, transactions, scripts, and what waits for
 * another client. All answers are the same, byte by byte but for what has no order.
 */
export async function fuzzCommands({ own, theirs, seed, commands }: CommandFuzz): Promise<void> {
  const pick = new Picker(seed)
  const control = await openPair(own, theirs)
  const pairs: Pair[] = []
  while (pairs.length < CLIENTS) pairs.push(await openPair(own, theirs))
  try {
    await both(control, [['FLUSHALL'], ['SCRIPT', 'FLUSH']])
    for (let done = 0, step = 0; done < commands; step += 1) {
      const at = pick.below(CLIENTS)
      const pair = pairs[at]!
      const where = `seed ${seed}, step ${step}, client ${at}`
      let asked: readonly Command[] = []
      if (pair.waits !== undefined) {
        if (pick.once(6)) await unblock(control, pair, pick)
      } else if (pick.once(25)) {
        pair.waits = drawWait(pick)
        for (const wire of [pair.own, pair.theirs]) wire.send(encoded(pair.waits))
        done += 1
      } else if (pick.once(20)) {
        const [watch = [], meanwhile = [], transaction = []] = drawWatch(pick).map((part) => kept(part, pair, pairs))
        await compare(pair, watch, where)
        await compare(control, meanwhile, `${where}, meanwhile`)
        await compare(pair, transaction, where)
        done += watch.length + meanwhile.length + transaction.length
      } else {
        const batch = kept(drawBatch(pick), pair, pairs)
        await compare(pair, batch, where)
        done += batch.length
        asked = batch
      }
      await settle(control, pairs, `${where}, after ${JSON.stringify(asked)}`)
    }
  } finally {
    for (const pair of [control, ...pairs]) for (const wire of [pair.own, pair.theirs]) wire[Symbol.dispose]()
  }
}

/**
 * What `~` trims follows in Redis from entries that were deleted and still take room in a node of its tree. Such
 * commands are left out.
 *
 * In Redis 7.0 one who waits for a sorted set or a list is not served by a `…STORE` that replaces something else at the
 * key; here it is. Such commands are left out while anyone waits for their keys.
 */
function kept(commands: readonly Command[], pair: Pair, pairs: readonly Pair[]): Command[] {
  const awaited = new Set(pairs.flatMap(({ waits }) => waits?.slice(1) ?? []))
  const serves = (command: Command): boolean =>
    command.some((word) => /store$/i.test(word)) && command.some((word) => awaited.has(word))
  const exact = commands.filter((command) => !command.includes('~'))
  return exact.filter((command) =>
    /^exec$/i.test(command[0]!) ? !pair.queued.some(serves) : awaited.size === 0 || !serves(command),
  )
}

async function openPair(ownPort: number, theirSocket: string): Promise<Pair> {
  const own = new Wire(ownPort)
  const theirs = new Wire(theirSocket)
  const ids = [String(await own.ask('CLIENT', 'ID')), String(await theirs.ask('CLIENT', 'ID'))] as const
  return { own, theirs, ids, queued: [], waits: undefined }
}

function both(pair: Pair, commands: readonly Command[]): Promise<[WireReply[], WireReply[]]> {
  return Promise.all([pair.own.run(commands), pair.theirs.run(commands)])
}

async function compare(pair: Pair, commands: readonly Command[], where: string): Promise<void> {
  const [mine, others] = await both(pair, commands)
  for (const [at, command] of commands.entries())
    check(pair, command, [mine[at]!, others[at]!], `${where}, command ${at}`)
}

function check(pair: Pair, command: Command, [mine, others]: readonly [WireReply, WireReply], where: string): void {
  const { queued } = pair
  if (mine.raw !== others.raw)
    assert.equal(
      shownAnswer(command, mine.reply, queued),
      shownAnswer(command, others.reply, queued),
      `${where}: ${JSON.stringify(/^exec$/i.test(command[0]!) ? queued : command)}`,
    )
  if (others.reply === 'QUEUED') queued.push(command)
  else if (/^(multi|exec|discard|reset)$/i.test(command[0]!) && !others.raw.startsWith('-ERR MULTI')) pair.queued = []
}

/** Until each client waits at both servers, or at none of them. */
async function settle(control: Pair, pairs: readonly Pair[], where: string): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS
  for (;;) {
    const waiting = pairs.filter(({ waits }) => waits !== undefined)
    if (waiting.length === 0) return
    for (const pair of waiting) {
      if (!pair.own.hasReply() || !pair.theirs.hasReply()) continue
      check(pair, pair.waits!, [pair.own.take()!, pair.theirs.take()!], `${where}, what waited`)
      pair.waits = undefined
    }
    const left = waiting.filter(({ waits }) => waits !== undefined)
    const [mine, others] = await both(control, [['INFO', 'clients']])
    const blocked = [mine, others].map(([info]) => /blocked_clients:(\d+)/.exec(info!.raw)?.[1])
    if (blocked.every((count) => count === String(left.length))) return
    if (performance.now() > endMs)
      assert.fail(
        `${where}: ${blocked.join(' and ')} clients wait of ${JSON.stringify(left.map(({ waits }) => waits))}`,
      )
  }
}

async function unblock(control: Pair, pair: Pair, pick: Picker): Promise<void> {
  const how = pick.of([[], ['TIMEOUT'], ['ERROR']])
  const [own, theirs] = pair.ids
  await Promise.all([
    control.own.ask('CLIENT', 'UNBLOCK', own, ...how),
    control.theirs.ask('CLIENT', 'UNBLOCK', theirs, ...how),
  ])
}
