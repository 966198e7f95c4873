import {
  type CommandSpec,
  commandNamed,
  type FaultReply,
  fitsArity,
  latin1Of,
  OUT_OF_MEMORY,
  type Reply,
  type ShardScratch,
  wrongArity,
} from '../../index-service/index.ts'
import type { ScriptRights } from '../access/door-users.ts'
import type { Activity } from '../activity/activity.ts'
import { entryNamed } from '../catalogue/catalogue.ts'
import { subcommandFault } from '../catalogue/subcommand-fault.ts'
import { databaseOf } from '../protocol/database-of.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { isFault, type ProtocolVersion } from '../protocol/reply-writer.ts'
import type { Request } from '../protocol/request.ts'
import { shaped } from '../protocol/shape.ts'
import type { Publisher } from '../publish/publisher.ts'
import { faultOfThrown } from '../routing/faults.ts'
import type { ScriptHost } from './redis-library.ts'

/** A message that is published when the script has taken effect. */
interface LateMessage {
  readonly channel: Uint8Array
  readonly message: Uint8Array
  readonly isSharded: boolean
}

/** A call of a script, for MONITOR. */
interface ShownCall {
  readonly db: number
  readonly request: Request
}

/** What others are told of a script when it has taken effect. */
export interface LateNews {
  readonly messages: LateMessage[]
  /** Filled only if someone listens. */
  readonly calls: ShownCall[]
}

export interface ScriptCallsOptions {
  readonly scratch: ShardScratch
  readonly publisher: Publisher
  readonly activity: Activity
  readonly late: LateNews
  readonly db: number
  readonly isReadOnly: boolean
  /** Calls are done even if the memory is used up. */
  readonly mayFill: boolean
  /** Whether a command is of the door, and none of those below. */
  readonly isOfDoor: (name: string) => boolean
  readonly rights: ScriptRights
  /** Why the script may not use a key; undefined if it may. */
  readonly misplaced: (key: Uint8Array) => FaultReply | undefined
}

const NOT_ALLOWED: FaultReply = { fault: 'ERR', message: 'This Redis command is not allowed from script' }
const WRONG_COUNT: FaultReply = { fault: 'ERR', message: 'Wrong number of args calling Redis command from script' }
const UNKNOWN: FaultReply = { fault: 'ERR', message: 'Unknown Redis command called from script' }
const READ_ONLY: FaultReply = { fault: 'ERR', message: 'Write commands are not allowed from read-only scripts.' }

/** What a script that runs over a scratch asks for. */
export class ScriptCalls implements ScriptHost {
  version: ProtocolVersion = 2
  readonly #options: ScriptCallsOptions
  #db: number
  /** From now on it is done to its end, even if the memory is used up. */
  #hasWritten = false

  constructor(options: ScriptCallsOptions) {
    this.#options = options
    this.#db = options.db
  }

  call(name: string, args: readonly Uint8Array[]): DoorReply {
    const own = ownCommands.get(name.toLowerCase())
    const spec = own === undefined ? commandNamed(name) : undefined
    const refusal = own === undefined ? this.#refusal(name, spec, args) : this.#refusalOfOwn(name, own, args)
    if (refusal !== undefined) return this.#refused(name, args, refusal)
    const { activity, late } = this.#options
    if (activity.monitors.size > 0) late.calls.push({ db: this.#db, request: { name, args } })
    const startMs = performance.now()
    const reply = own === undefined ? this.#run(spec!, args) : this.#runOwn(own, args)
    const count = activity.statistics.ofCall(spec?.name ?? name.toLowerCase(), args)
    activity.counted(count, performance.now() - startMs)
    if (!isFault(reply)) return reply
    count.failed += 1
    return this.#countedFault(reply)
  }

  #refused(name: string, args: readonly Uint8Array[], refusal: FaultReply): DoorReply {
    const known = entryNamed(name.toLowerCase())
    if (known !== undefined) this.#options.activity.statistics.reject(known.name, args)
    return this.#countedFault(refusal)
  }

  #countedFault(fault: FaultReply): DoorReply {
    this.#options.activity.statistics.fault(fault.fault)
    return { ...fault, isCounted: true }
  }

  #run(spec: CommandSpec, args: readonly Uint8Array[]): DoorReply {
    if (spec.isWrite) this.#hasWritten = true
    const reply: Reply = this.#options.scratch.call({ name: spec.name, args, db: this.#db }, true)
    return shaped(spec.name, args.length, reply)
  }

  #runOwn(own: OwnCommand, args: readonly Uint8Array[]): DoorReply {
    try {
      return own.run(this, args)
    } catch (error) {
      return faultOfThrown(error)
    }
  }

  #refusalOfOwn(name: string, own: OwnCommand, args: readonly Uint8Array[]): FaultReply | undefined {
    if (!fitsArity(own, args.length)) return WRONG_COUNT
    if (this.#options.isReadOnly && own.isSent === true) return READ_ONLY
    return this.#options.rights.refusal(name.toLowerCase(), args)
  }

  #refusal(name: string, spec: CommandSpec | undefined, args: readonly Uint8Array[]): FaultReply | undefined {
    if (spec === undefined) return this.#options.isOfDoor(name) ? NOT_ALLOWED : UNKNOWN
    if (!fitsArity(spec, args.length)) return WRONG_COUNT
    const fault = subcommandFault(spec.name, args)
    if (fault !== undefined) return fault.message.startsWith('unknown') ? UNKNOWN : WRONG_COUNT
    if (spec.blocking !== undefined && entryNamed(spec.name)?.flags.has('noscript') === true) return NOT_ALLOWED
    if (spec.isWrite && this.#options.isReadOnly) return READ_ONLY
    if (spec.blocking !== undefined && asksToWait(args))
      return { fault: 'ERR', message: `${name} command is not allowed with BLOCK option from scripts` }
    const refused = this.#options.rights.refusal(spec.name, args)
    if (refused !== undefined) return refused
    for (const at of spec.keys(args)) {
      const fault = args[at] && this.#options.misplaced(args[at])
      if (fault !== undefined) return fault
    }
    // As in Redis, a script that has written is not left half done.
    const { scratch, mayFill } = this.#options
    return spec.needsMemory && scratch.isFull && !mayFill && !this.#hasWritten ? OUT_OF_MEMORY : undefined
  }

  may(name: string, args: readonly Uint8Array[]): boolean {
    return this.#options.rights.may(name, args)
  }

  select(db: number): void {
    this.#db = db
  }

  publish(channel: Uint8Array, message: Uint8Array, isSharded: boolean): number {
    this.#options.late.messages.push({ channel, message, isSharded })
    return this.#options.publisher.count(channel, isSharded)
  }
}

/** Whether XREAD or XREADGROUP has BLOCK before anything that is no option: Redis refuses it when it comes to it. */
function asksToWait(args: readonly Uint8Array[]): boolean {
  for (let at = 0; at + 1 < args.length; ) {
    const option = latin1Of(args[at]!).toLowerCase()
    if (option === 'block') return true
    if (option === 'count' && !isInteger(latin1Of(args[at + 1]!))) return false
    const words = ({ count: 2, group: 3, noack: 1 } as Readonly<Record<string, number>>)[option]
    if (words === undefined) return false
    at += words
  }
  return false
}

/** Of 64 bits. */
function isInteger(text: string): boolean {
  return /^(0|-?[1-9]\d{0,18})$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

interface OwnCommand {
  readonly arity: number
  /** Others are told, so a script that only reads may not. */
  readonly isSent?: true
  run(calls: ScriptCalls, args: readonly Uint8Array[]): DoorReply
}

/** By name in lower case. */
const ownCommands: ReadonlyMap<string, OwnCommand> = new Map<string, OwnCommand>([
  [
    'select',
    {
      arity: 2,
      run: (calls, [db]) => {
        calls.select(databaseOf(db!))
        return 'OK'
      },
    },
  ],
  ['ping', { arity: -1, run: (_calls, [text, more]) => (more === undefined ? (text ?? 'PONG') : wrongArity('ping')) }],
  ['publish', { arity: 3, isSent: true, run: (calls, [channel, message]) => calls.publish(channel!, message!, false) }],
  ['spublish', { arity: 3, isSent: true, run: (calls, [channel, message]) => calls.publish(channel!, message!, true) }],
])
