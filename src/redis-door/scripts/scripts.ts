import { CommandFault, type FaultReply, latin1Of, type ShardScratch, shardOf } from '../../index-service/index.ts'
import type { ScriptRights } from '../access/door-users.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import type { Publisher } from '../publish/publisher.ts'
import { ScriptCalls } from './script-calls.ts'
import { ScriptEngine } from './script-engine.ts'
import { ScriptStore } from './script-store.ts'

/** A script that is called, with what it is given. */
export interface ScriptCall {
  readonly sha: string
  readonly source: Uint8Array
  readonly keys: readonly Uint8Array[]
  readonly args: readonly Uint8Array[]
  readonly isReadOnly: boolean
}

/** Where a script runs. */
export interface ScriptPlace {
  readonly scratch: ShardScratch
  readonly shard: number
  readonly db: number
  readonly rights: ScriptRights
}

const NO_PACKAGE = 'Lua scripts need the package wasmoon; npm install wasmoon'

export interface ScriptsOptions {
  readonly publisher: Publisher
  readonly shards: number
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

  /** Why a script cannot be run; undefined if it can. */
  check(sha: string, source: Uint8Array): FaultReply | undefined {
    return this.#engine!.check(sha, source)
  }

  /** In one piece; what is to be published afterwards comes with it. */
  run(
    { sha, source, keys, args, isReadOnly }: ScriptCall,
    { scratch, shard, db, rights }: ScriptPlace,
  ): { readonly reply: DoorReply; readonly messages: ScriptCalls['messages'] } {
    const { publisher, shards, isOfDoor } = this.#options
    const host = new ScriptCalls({
      scratch,
      db,
      rights,
      publisher,
      isReadOnly: isReadOnly || isMarkedReadOnly(source),
      isOfDoor,
      isOwn: (key) => shards === 1 || shardOf(key, shards) === shard,
    })
    try {
      // None, as Redis has it, is no limit.
      const timeLimitMs = this.#options.timeLimitMs() || Infinity
      const reply = this.#engine!.run({ sha, source, keys, args, host, timeLimitMs })
      return { reply, messages: host.messages }
    } catch (error) {
      // Its memory may be in any state.
      this.#engine = undefined
      throw error
    }
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

/** By its first line, such as `#!lua flags=no-writes`. */
function isMarkedReadOnly(source: Uint8Array): boolean {
  if (source[0] !== 0x23) return false
  const end = source.indexOf(0x0a)
  const [first] = [latin1Of(source.subarray(0, end < 0 ? source.length : end))]
  return /^#!lua .*\bflags=\S*no-writes/.test(first)
}
