import {
  type Call,
  CommandFault,
  commandNamed,
  type Reply,
  type ShardScratch,
  type Watched,
} from '../../index-service/index.ts'
import { type DoorClient, Transaction } from '../connection/client.ts'
import type { DoorServices } from '../door-services.ts'
import { type DoorReply, NULL_ARRAY } from '../protocol/door-reply.ts'
import { isFault } from '../protocol/reply-writer.ts'
import type { Request } from '../protocol/request.ts'
import { shaped } from '../protocol/shape.ts'
import { faultOfThrown } from '../routing/faults.ts'
import { isNoSlot, keysOf } from '../routing/router.ts'
import type { LateNews } from '../scripts/script-calls.ts'
import { readsOf } from '../tracking/transaction-reads.ts'
import { wordOf } from './arguments.ts'
import { chosenDatabase } from './connections.ts'
import type { DoorCommand } from './door-command.ts'
import { isReplicaOf, replicaFor, runScripts, tellLate } from './scripting.ts'
import { trackedRun } from './tracking.ts'

const ABOUT_ALL: DoorReply = {
  fault: 'CROSSSLOT',
  message: 'a command in this transaction is about all keys, which are in several shards; send it outside of MULTI',
}

/** What EXEC does with the commands that wait, one after the other. */
type Step =
  | { readonly call: Call; readonly request: Request }
  /** Of the door. It is done behind all calls: none of them depends on it. */
  | { readonly command: DoorCommand; readonly request: Request; readonly db: number }
  /** SELECT, if it chooses one: the client's database is another one only when all is done. */
  | { readonly reply: DoorReply; readonly request: Request; readonly db?: number }

/** `commandOf`: the door's own commands, which hold these here. */
export function transactions(commandOf: (name: string) => DoorCommand | undefined): readonly DoorCommand[] {
  return [
    { name: 'multi', arity: 1, inTransaction: 'at once', run: (_door, client) => multi(client) },
    { name: 'discard', arity: 1, inTransaction: 'at once', run: (_door, client) => discard(client) },
    {
      name: 'exec',
      arity: 1,
      inTransaction: 'at once',
      run: (door, client) =>
        exec(door, client, commandOf).finally(() => {
          client.lastCommand = 'exec'
        }),
    },
    { name: 'watch', arity: -2, inTransaction: 'at once', run: watch },
    {
      name: 'unwatch',
      arity: 1,
      run: (_door, client) => {
        client.watched.length = 0
        return 'OK'
      },
    },
  ]
}

function multi(client: DoorClient): DoorReply {
  if (client.transaction !== undefined) throw new CommandFault('MULTI calls can not be nested')
  client.transaction = new Transaction()
  return 'OK'
}

function discard(client: DoorClient): DoorReply {
  if (client.transaction === undefined) throw new CommandFault('DISCARD without MULTI')
  leave(client)
  return 'OK'
}

function leave(client: DoorClient): void {
  client.transaction = undefined
  client.watched.length = 0
}

const watch: DoorCommand['run'] = async (door, client, keys) => {
  if (client.transaction !== undefined) throw new CommandFault('WATCH inside MULTI is not allowed')
  const { router } = door
  const slot = router.commonSlot([...client.watched.map(({ key }) => key), ...keys])
  if (isNoSlot(slot)) return slot
  const { db } = client
  const limits = { timeoutMs: door.settings.timeoutMs, signal: undefined }
  const versions = await router.lineOf(slot!).port.versions(keys, limits, db)
  // What is watched already has to be as it was then.
  for (const [at, key] of keys.entries())
    if (!client.watched.some((each) => each.db === db && same(each.key, key)))
      client.watched.push({ key: Uint8Array.from(key), version: versions[at]!, db })
  return 'OK'
}

function same(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at])
}

async function exec(
  door: DoorServices,
  client: DoorClient,
  commandOf: (name: string) => DoorCommand | undefined,
): Promise<DoorReply> {
  const { transaction } = client
  if (transaction === undefined) throw new CommandFault('EXEC without MULTI')
  const watched = [...client.watched]
  const steps = transaction.isBroken ? [] : stepsOf(transaction.requests, { door, client, commandOf })
  leave(client)
  try {
    if (transaction.isBroken) throw new CommandFault('Transaction discarded because of previous errors.', 'EXECABORT')
    const reply = await execSteps(door, client, steps, watched)
    readBefore(door, client, steps)
    return reply
  } finally {
    door.activity.executed(client)
  }
}

async function execSteps(
  door: DoorServices,
  client: DoorClient,
  steps: readonly Step[],
  watched: readonly Watched[],
): Promise<DoorReply> {
  track(door, client, steps)
  if (steps.some((step) => 'command' in step && step.command.within !== undefined))
    return await execProgram(door, client, steps, watched)
  const calls = steps.flatMap((step) => ('call' in step ? step.call : []))
  const startMs = performance.now()
  const replies = await runTogether(door, calls, watched)
  const tookMs = performance.now() - startMs
  if (!Array.isArray(replies)) return replies
  const list: DoorReply[] = []
  let at = 0
  for (const step of steps) {
    if ('command' in step) {
      list.push(await runCommand(door, client, step))
      continue
    }
    const reply = 'reply' in step ? chosen(client, step) : shapedCall(step.call, replies[at]!)
    if ('call' in step) at += 1
    list.push(counted(door, client, { step, reply, tookMs: 'call' in step ? tookMs / calls.length : 0 }))
  }
  return { list }
}

/** What is read is told of when it changes. Scripts say so themselves. */
function track({ tracking }: DoorServices, client: DoorClient, steps: readonly Step[]): void {
  if (client.tracking === undefined) return
  const { keys, rereads } = readsOf(steps.flatMap((step) => ('call' in step ? step.call : [])))
  tracking.read(client, keys, rereads)
}

/** What is read behind CLIENT TRACKING or CACHING is told at once: these are done last, so it is not tracked. */
function readBefore({ tracking }: DoorServices, client: DoorClient, steps: readonly Step[]): void {
  if (client.tracking === undefined) return
  const said = steps.findIndex(
    (step) =>
      'command' in step &&
      step.command.name === 'client' &&
      wordOf(step.request.args[0], ['tracking', 'caching']) !== undefined,
  )
  if (said < 0) return
  const behind = steps.slice(said)
  const { keys } = readsOf(behind.flatMap((step) => ('call' in step ? step.call : [])))
  const ofScripts = behind.flatMap((step) => ('command' in step ? keysOfStep(step) : []))
  tracking.readBefore(client, [...keys, ...ofScripts])
}

/** The same where a script is among the commands: all of it is one program. */
async function execProgram(
  door: DoorServices,
  client: DoorClient,
  steps: readonly Step[],
  watched: readonly Watched[],
): Promise<DoorReply> {
  await door.scripts.begin()
  const found = replicaFor(door, [...watched.map(({ key }) => key), ...steps.flatMap(keysOfStep)])
  if (!isReplicaOf(found)) return found
  const { replica, shard } = found
  const rights = door.users.rightsOf(client)
  const program = (scratch: ShardScratch): readonly Ran[] | undefined => {
    if (watched.some(({ key, version, db }) => scratch.versionOf(key, db) !== version)) return undefined
    return steps.map((step): Ran => {
      const late: LateNews = { messages: [], calls: [] }
      if ('reply' in step) return { reply: step.reply, late }
      const keys = 'call' in step ? [] : keysOfStep(step)
      const reply = trackedRun({ door, client, scratch, keys }, () => {
        if ('call' in step) return shapedCall(step.call, scratch.call(step.call))
        const { command, request, db } = step
        return command.within?.(door, request.args, { scratch, shard, db, rights, late })
      })
      return { reply, late }
    })
  }
  const startMs = performance.now()
  const ran = await runScripts(door, replica, program)
  const tookMs = (performance.now() - startMs) / steps.length
  if (ran === undefined) return NULL_ARRAY
  const list: DoorReply[] = []
  for (const [at, step] of steps.entries())
    if ('command' in step && step.command.within === undefined) list.push(await runCommand(door, client, step))
    else {
      const { reply, late } = ran[at]!
      if ('reply' in step) chosen(client, step)
      list.push(counted(door, client, { step, reply: reply!, tookMs }))
      tellLate(door, late)
    }
  return { list }
}

interface Done {
  readonly step: Step
  readonly reply: DoorReply
  readonly tookMs: number
}

/** It counts, and MONITOR shows it, as if it had come alone. */
function counted({ activity }: DoorServices, client: DoorClient, { step, reply, tookMs }: Done): DoorReply {
  const { request } = step
  const name = request.name.toLowerCase()
  activity.show({ db: dbOf(step) ?? client.db, source: client.line.address }, request)
  activity.ended(client, name, request, tookMs)
  if (isFault(reply)) activity.statistics.ofCall(name, request.args).failed += 1
  return reply
}

function dbOf(step: Step): number | undefined {
  return 'call' in step ? step.call.db : step.db
}

function chosen(client: DoorClient, { reply, db }: Extract<Step, { readonly reply: DoorReply }>): DoorReply {
  if (db !== undefined) client.db = db
  return reply
}

/** What a step came to, in a program. */
interface Ran {
  /** Undefined of a command of the door, which is run afterwards. */
  readonly reply: DoorReply | undefined
  readonly late: LateNews
}

function keysOfStep(step: Step): readonly Uint8Array[] {
  if ('call' in step) return keysOf(commandNamed(step.call.name)!, step.call.args)
  if (!('command' in step)) return []
  try {
    return step.command.keys?.(step.request.args) ?? []
  } catch {
    // It is refused when its turn comes.
    return []
  }
}

function shapedCall({ name, args }: Call, reply: Reply): DoorReply {
  return shaped(commandNamed(name)!.name, args.length, reply)
}

/** A fault if they are of several shards, NULL_ARRAY if what was watched has changed. */
async function runTogether(
  door: DoorServices,
  calls: readonly Call[],
  watched: readonly Watched[],
): Promise<readonly Reply[] | DoorReply> {
  if (calls.length === 0 && watched.length === 0) return []
  const { router } = door
  const keysOfCalls = calls.map(({ name, args }) => keysOf(commandNamed(name)!, args))
  // It would be done in one shard alone.
  if (router.shards > 1 && keysOfCalls.some((keys) => keys.length === 0)) return ABOUT_ALL
  const keys = keysOfCalls.flat()
  const slot = router.commonSlot([...watched.map(({ key }) => key), ...keys])
  if (isNoSlot(slot)) return slot
  const line = router.lineOf(slot ?? 0)
  const { timeoutMs } = door.settings
  const replies = await line.port.run(calls, watched.length === 0 ? undefined : watched, {
    timeoutMs,
    signal: undefined,
  })
  return replies ?? NULL_ARRAY
}

interface Executing {
  readonly door: DoorServices
  readonly client: DoorClient
  readonly commandOf: (name: string) => DoorCommand | undefined
}

function stepsOf(requests: readonly Request[], { door, client, commandOf }: Executing): readonly Step[] {
  let { db } = client
  const origin = client.tracking && { origin: client.tracking.origin }
  return requests.map((request): Step => {
    const { name, args } = request
    const command = commandOf(name)
    // Rules may have changed since it was queued.
    const refusal = client.user.mayAll
      ? undefined
      : door.users.refusal(client, command?.name ?? commandNamed(name)!.name, args)
    if (refusal !== undefined) return { reply: refusal, request }
    if (name.toLowerCase() === 'select') {
      try {
        db = chosenDatabase(door, args)
        return { reply: 'OK', request, db }
      } catch (error) {
        return { reply: faultOfThrown(error), request }
      }
    }
    return command === undefined ? { call: { name, args, db, ...origin }, request } : { command, request, db }
  })
}

async function runCommand(
  door: DoorServices,
  client: DoorClient,
  step: Extract<Step, { readonly command: DoorCommand }>,
): Promise<DoorReply> {
  const { command, request } = step
  const startMs = performance.now()
  const run = async (): Promise<DoorReply> => await command.run(door, client, request.args)
  const reply = await run().catch(faultOfThrown)
  return counted(door, client, { step, reply, tookMs: performance.now() - startMs })
}
