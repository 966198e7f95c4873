import {
  commandNamed,
  type FaultReply,
  fitsArity,
  latin1Of,
  type Reply,
  type ShardScratch,
  wrongArity,
} from '../../index-service/index.ts'
import type { ScriptRights } from '../access/door-users.ts'
import { entryNamed } from '../catalogue/catalogue.ts'
import { subcommandFault } from '../catalogue/subcommand-fault.ts'
import { databaseOf } from '../commands/connections.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import type { ProtocolVersion } from '../protocol/reply-writer.ts'
import { shaped } from '../protocol/shape.ts'
import type { Publisher } from '../publish/publisher.ts'
import { faultOfThrown } from '../routing/faults.ts'
import type { ScriptHost } from './redis-library.ts'

/** A message that is published when the script has taken effect. */
export interface LateMessage {
  readonly channel: Uint8Array
  readonly message: Uint8Array
  readonly isSharded: boolean
}

export interface ScriptCallsOptions {
  readonly scratch: ShardScratch
  readonly publisher: Publisher
  readonly db: number
  readonly isReadOnly: boolean
  /** Whether a command is of the door, and none of those below. */
  readonly isOfDoor: (name: string) => boolean
  readonly rights: ScriptRights
  /** Whether a key is of the shard that the scratch is of. */
  readonly isOwn: (key: Uint8Array) => boolean
}

const NOT_ALLOWED: FaultReply = { fault: 'ERR', message: 'This Redis command is not allowed from script' }
const WRONG_COUNT: FaultReply = { fault: 'ERR', message: 'Wrong number of args calling Redis command from script' }
const UNKNOWN: FaultReply = { fault: 'ERR', message: 'Unknown Redis command called from script' }
const READ_ONLY: FaultReply = { fault: 'ERR', message: 'Write commands are not allowed from read-only scripts.' }
const ELSEWHERE: FaultReply = {
  fault: 'ERR',
  message: 'Script attempted to access a non local key in a cluster node',
}

/** What a script that runs over a scratch asks for. */
export class ScriptCalls implements ScriptHost {
  version: ProtocolVersion = 2
  readonly messages: LateMessage[] = []
  readonly #options: ScriptCallsOptions
  #db: number

  constructor(options: ScriptCallsOptions) {
    this.#options = options
    this.#db = options.db
  }

  call(name: string, args: readonly Uint8Array[]): DoorReply {
    const own = ownCommands[name.toLowerCase()]
    if (own !== undefined) {
      if (!fitsArity(own, args.length)) return WRONG_COUNT
      if (this.#options.isReadOnly && own.isSent === true) return READ_ONLY
      const refused = this.#options.rights.refusal(name.toLowerCase(), args)
      if (refused !== undefined) return refused
      try {
        return own.run(this, args)
      } catch (error) {
        return faultOfThrown(error)
      }
    }
    const spec = commandNamed(name)
    if (spec === undefined) return this.#unknown(name)
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
      const key = args[at]
      if (key !== undefined && !this.#options.isOwn(key)) return ELSEWHERE
    }
    const reply: Reply = this.#options.scratch.call({ name: spec.name, args, db: this.#db })
    return shaped(spec.name, args.length, reply)
  }

  may(name: string, args: readonly Uint8Array[]): boolean {
    return this.#options.rights.may(name, args)
  }

  select(db: number): void {
    this.#db = db
  }

  publish(channel: Uint8Array, message: Uint8Array, isSharded: boolean): number {
    this.messages.push({ channel, message, isSharded })
    return this.#options.publisher.count(channel, isSharded)
  }

  #unknown(name: string): FaultReply {
    return this.#options.isOfDoor(name) ? NOT_ALLOWED : UNKNOWN
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

const ownCommands: Readonly<Record<string, OwnCommand>> = {
  select: {
    arity: 2,
    run: (calls, [db]) => {
      calls.select(databaseOf(db!))
      return 'OK'
    },
  },
  ping: { arity: -1, run: (_calls, [text, more]) => (more === undefined ? (text ?? 'PONG') : wrongArity('ping')) },
  publish: { arity: 3, isSent: true, run: (calls, [channel, message]) => calls.publish(channel!, message!, false) },
  spublish: { arity: 3, isSent: true, run: (calls, [channel, message]) => calls.publish(channel!, message!, true) },
}
