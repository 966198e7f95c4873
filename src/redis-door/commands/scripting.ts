import { Buffer } from 'node:buffer'
import { CommandFault, latin1Of, type ShardReplica, type ShardScratch } from '../../index-service/index.ts'
import type { DoorServices } from '../door-services.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import type { Request } from '../protocol/request.ts'
import { faultOfThrown } from '../routing/faults.ts'
import { isNoSlot } from '../routing/router.ts'
import type { LateNews } from '../scripts/script-calls.ts'
import { headerOf } from '../scripts/script-header.ts'
import type { ScriptCall } from '../scripts/scripts.ts'
import { wordOf } from './arguments.ts'
import type { DoorCommand } from './door-command.ts'
import { withSubcommands } from './subcommands.ts'
import { trackedRun } from './tracking.ts'

type Run = DoorCommand['run']

interface ScriptCommand {
  readonly name: string
  /** By its hash, not by its text. */
  readonly isByHash: boolean
  readonly isReadOnly: boolean
}

const scriptCommands: readonly ScriptCommand[] = [
  { name: 'eval', isByHash: false, isReadOnly: false },
  { name: 'evalsha', isByHash: true, isReadOnly: false },
  { name: 'eval_ro', isByHash: false, isReadOnly: true },
  { name: 'evalsha_ro', isByHash: true, isReadOnly: true },
]

const HASH_CHARACTERS = 40

/** @throws CommandFault */
function scriptCall(door: DoorServices, command: ScriptCommand, args: readonly Uint8Array[]): ScriptCall {
  const [first] = args
  const { store } = door.scripts
  if (command.isByHash && first!.length !== HASH_CHARACTERS) throw noScript()
  const count = keyCount(args)
  const source = command.isByHash ? store.get(latin1Of(first!)) : first!
  if (source === undefined) throw noScript()
  const header = headerOf(source)
  const sha = command.isByHash ? latin1Of(first!).toLowerCase() : store.remember(source)
  const { isReadOnly } = command
  return { sha, source, keys: args.slice(2, 2 + count), args: args.slice(2 + count), header, isReadOnly }
}

function noScript(): CommandFault {
  return new CommandFault('No matching script. Please use EVAL.', 'NOSCRIPT')
}

/** @throws CommandFault */
function keyCount(args: readonly Uint8Array[]): number {
  const text = latin1Of(args[1]!)
  if (!/^(0|-?[1-9]\d{0,17})$/.test(text)) throw new CommandFault('value is not an integer or out of range')
  const count = Number(text)
  if (count > args.length - 2) throw new CommandFault("Number of keys can't be greater than number of args")
  if (count < 0) throw new CommandFault("Number of keys can't be negative")
  return count
}

/** The keys that an EVAL names. @throws CommandFault */
function declaredKeys(args: readonly Uint8Array[]): readonly Uint8Array[] {
  return args.slice(2, 2 + keyCount(args))
}

/** Where a program with these keys runs; a fault if it cannot be here. @throws CommandFault */
export function replicaFor(door: DoorServices, keys: readonly Uint8Array[]): ReplicaOf | DoorReply {
  const { node, router, settings, cluster } = door
  const slot = router.commonSlot(keys)
  if (isNoSlot(slot)) return slot
  const moved = settings.isCluster && slot !== undefined ? cluster.moved(slot, false) : undefined
  if (moved !== undefined) return moved
  const shard = router.shardOf(slot ?? 0)
  const replica = node.held.get(shard)
  if (replica === undefined)
    throw new CommandFault('this node does not hold the keys of the script; ask one that does, see CLUSTER SHARDS')
  return { replica, shard }
}

interface ReplicaOf {
  readonly replica: ShardReplica
  readonly shard: number
}

export function isReplicaOf(found: ReplicaOf | DoorReply): found is ReplicaOf {
  return typeof found === 'object' && found !== null && 'replica' in found
}

/** Run a program with scripts. If one of another client has broken the engine meanwhile, it waits for the next one. */
export async function runScripts<T>(
  { scripts, settings }: DoorServices,
  replica: ShardReplica,
  program: (scratch: ShardScratch) => T,
  isReadOnly: boolean = false,
): Promise<T> {
  const limits = { timeoutMs: settings.timeoutMs, signal: undefined }
  for (;;) {
    await scripts.begin()
    const once = (scratch: ShardScratch): { readonly result: T } | undefined =>
      scripts.isBroken ? undefined : { result: program(scratch) }
    const ran = await replica.runProgram(once, limits, isReadOnly)
    if (ran !== undefined) return ran.result
  }
}

function evaluates(command: ScriptCommand): DoorCommand {
  const run: Run = async (door, client, args) => {
    const call = scriptCall(door, command, args)
    await door.scripts.begin()
    const found = replicaFor(door, call.keys)
    if (!isReplicaOf(found)) return found
    const { shard } = found
    const { db } = client
    const program = (scratch: ShardScratch): ReturnType<typeof door.scripts.run> =>
      trackedRun({ door, client, scratch, keys: call.keys }, () =>
        door.scripts.run(call, { scratch, shard, db, rights: door.users.rightsOf(client) }),
      )
    const { reply, late } = await runScripts(door, found.replica, program, call.isReadOnly || call.header.isReadOnly)
    tellLate(door, late)
    return reply
  }
  const within: DoorCommand['within'] = (door, args, { late, ...place }) => {
    try {
      const done = door.scripts.run(scriptCall(door, command, args), place)
      late.messages.push(...done.late.messages)
      late.calls.push(...done.late.calls)
      return done.reply
    } catch (error) {
      return faultOfThrown(error)
    }
  }
  return { name: command.name, arity: -3, keys: declaredKeys, run, within }
}

/** What waited until scripts have taken effect. */
export function tellLate({ publisher, activity }: DoorServices, { messages, calls }: LateNews): void {
  for (const { db, request } of calls) activity.show({ db, source: 'lua' }, request)
  for (const { channel, message, isSharded } of messages) publisher.publish(channel, message, isSharded)
}

/** For CLIENT PAUSE: what a script does is not known before it runs, if it does not say it. */
export function scriptMayWrite({ scripts }: DoorServices, { name, args }: Request): boolean {
  const command = scriptCommands.find((each) => each.name === name.toLowerCase())
  if (command === undefined || command.isReadOnly) return false
  try {
    const source = command.isByHash ? scripts.store.get(latin1Of(args[0]!)) : args[0]!
    return source === undefined || !headerOf(source).isReadOnly
  } catch {
    // It is refused when its turn comes.
    return true
  }
}

const script = withSubcommands({
  name: 'script',
  subcommands: {
    load: async ({ scripts }, _client, [source]) => {
      headerOf(source!)
      await scripts.begin()
      const sha = scripts.store.load(source!)
      return scripts.check(sha, source!) ?? Buffer.from(sha)
    },
    exists: ({ scripts }, _client, names) => names.map((sha) => Number(scripts.store.get(latin1Of(sha)) !== undefined)),
    flush: ({ scripts }, _client, [mode, extra]) => {
      const isMode = mode === undefined || wordOf(mode, ['async', 'sync']) !== undefined
      if (!isMode || extra !== undefined) throw new CommandFault('SCRIPT FLUSH only support SYNC|ASYNC option')
      scripts.store.flush()
      return 'OK'
    },
    // While one runs, no other command does.
    kill: () => ({ fault: 'NOTBUSY', message: 'No scripts in execution right now.' }),
  },
})

/** Scripts of Lua. */
export const scripting: readonly DoorCommand[] = [...scriptCommands.map(evaluates), script]
