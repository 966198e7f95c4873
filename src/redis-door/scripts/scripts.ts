import {
  CommandFault,
  type FaultReply,
  OUT_OF_MEMORY,
  type ShardScratch,
  shardOf,
  slotOf,
} from '../../index-service/index.ts'
import type { ScriptRights } from '../access/door-users.ts'
import type { Activity } from '../activity/activity.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import type { Publisher } from '../publish/publisher.ts'
import { type LateNews, ScriptCalls } from './script-calls.ts'
import { ScriptEngine } from './script-engine.ts'
import type { ScriptHeader } from './script-header.ts'
import { ScriptStore } from './script-store.ts'

/** A script that is called, with what it is given. */
export interface ScriptCall {
  readonly sha: string
  readonly source: Uint8Array
  readonly keys: readonly Uint8Array[]
  readonly args: readonly Uint8Array[]
  readonly header: ScriptHeader
  /** It is called by EVAL_RO or EVALSHA_RO. */
  readonly isReadOnly: boolean
}

/** Where a script runs. */
export interface ScriptPlace {
  readonly scratch: ShardScratch
  readonly shard: number
  readonly db: number
  readonly rights: ScriptRights
}

const ELSEWHERE: FaultReply = {
  fault: 'ERR',
  message: 'Script attempted to access a non local key in a cluster node',
}
const APART: FaultReply = {
  fault: 'ERR',
  message: 'Script attempted to access keys that do not hash to the same slot',
}
const NOT_FOR_CLUSTER: FaultReply = {
  fault: 'ERR',
  message: "Can not run script on cluster, 'no-cluster' flag is set.",
}
const NOT_READ_ONLY: FaultReply = {
  fault: 'ERR',
  message: 'Can not execute a script with write flag using *_ro command.',
}
/** Only within one transaction: it cannot wait until there is another engine. */
const BROKEN: FaultReply = { fault: 'ERR', message: 'the script before it has ended Lua; send this one again' }
const NO_PACKAGE = 'Lua scripts need the package wasmoon; npm install wasmoon'

export interface ScriptsOptions {
  readonly publisher: Publisher
  readonly shards: number
  /** Clients know of slots. */
  readonly isCluster: boolean
  readonly activity: Activity
  /** Whether a command is one of the door's. */
  readonly isOfDoor: (name: string) => boolean
  /** How long a script may run, or 0: it blocks all other clients of the process. */
  readonly timeLimitMs: () => number
}

/** The scripts of a door. */
export class Scripts {
  readonly store: ScriptStore = new ScriptStore()
  readonly #options: ScriptsOptions
  #engine: ScriptEngine | undefined
  #loading: Promise<void> | undefined

  constructor(options: ScriptsOptions) {
    this.#options = options
  }

  /** Before the first script, and after one that has broken the engine. @throws CommandFault without the package */
  async begin(): Promise<void> {
    if (this.#engine !== undefined) return
    this.#loading ??= this.#load()
    try {
      await this.#loading
    } finally {
      this.#loading = undefined
    }
  }

  /** A script has broken the engine. It is there again after {@link begin}. */
  get isBroken(): boolean {
    return this.#engine === undefined
  }

  /** Why a script cannot be run; undefined if it can. */
  check(sha: string, source: Uint8Array): FaultReply | undefined {
    return this.#engine!.check(sha, source)
  }

  /** In one piece; what others are told afterwards comes with it. */
  run(
    call: ScriptCall,
    { scratch, shard, db, rights }: ScriptPlace,
  ): { readonly reply: DoorReply; readonly late: LateNews } {
    const { publisher, shards, isCluster, activity, isOfDoor } = this.#options
    const late: LateNews = { messages: [], calls: [] }
    const engine = this.#engine
    if (engine === undefined) return { reply: BROKEN, late }
    const refusal = this.#refusal(engine, call, scratch)
    if (refusal !== undefined) return { reply: refusal, late }
    const { sha, source, keys, args, header } = call
    const isReadOnly = call.isReadOnly || header.isReadOnly
    const slots = isCluster && !header.mayCrossSlots ? new CommonSlot(keys) : undefined
    const host = new ScriptCalls({
      ...{ scratch, db, rights, publisher, activity, late, isReadOnly, isOfDoor },
      mayFill: header.mayFill,
      misplaced: (key) => {
        if (shards > 1 && shardOf(key, shards) !== shard) return ELSEWHERE
        return slots?.has(key) === false ? APART : undefined
      },
    })
    try {
      // None, as Redis has it, is no limit.
      const timeLimitMs = this.#options.timeLimitMs() || Infinity
      const reply = engine.run({ sha, source, keys, args, host, timeLimitMs })
      return { reply, late }
    } catch (error) {
      // Its memory may be in any state.
      this.#engine = undefined
      throw error
    }
  }

  /** Why it is not run, by what its first line says. */
  #refusal(
    engine: ScriptEngine,
    { sha, source, header, isReadOnly }: ScriptCall,
    { isFull }: ShardScratch,
  ): FaultReply | undefined {
    if (header.isMissing) return undefined
    const fault = engine.check(sha, source)
    if (fault !== undefined) return fault
    if (header.isForNoCluster && this.#options.isCluster) return NOT_FOR_CLUSTER
    if (header.isReadOnly) return undefined
    if (isFull && !header.mayFill) return OUT_OF_MEMORY
    return isReadOnly ? NOT_READ_ONLY : undefined
  }

  async #load(): Promise<void> {
    try {
      this.#engine = await ScriptEngine.load()
    } catch (error) {
      if ((error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND') throw new CommandFault(NO_PACKAGE)
      throw error
    }
  }
}

/** The slot of all keys that a script has named or used. */
class CommonSlot {
  #slot: number | undefined

  constructor(keys: readonly Uint8Array[]) {
    this.#slot = keys[0] && slotOf(keys[0])
  }

  /** The first key of all decides. */
  has(key: Uint8Array): boolean {
    const slot = slotOf(key)
    this.#slot ??= slot
    return slot === this.#slot
  }
}
