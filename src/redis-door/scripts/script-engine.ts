import { bytesOf, type FaultReply, latin1Of } from '../../index-service/index.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { REDIS_VERSION } from '../protocol/redis-version.ts'
import { pushFunctions, pushLibraries } from './lua/libraries.ts'
import { Lua, LuaFault, type LuaFunction } from './lua/lua.ts'
import { PRELUDE } from './lua/prelude.ts'
import { sourceFor54 } from './lua/source.ts'
import { LuaType, loadLua, type Pointer, REGISTRY } from './lua/wasm.ts'
import { redisLibrary, redisNumbers, type ScriptHost } from './redis-library.ts'
import { countedAt, faultOfText, replyAt } from './script-replies.ts'

/** What a script is run with. */
export interface ScriptRun {
  readonly sha: string
  readonly source: Uint8Array
  readonly keys: readonly Uint8Array[]
  readonly args: readonly Uint8Array[]
  readonly host: ScriptHost
  readonly timeLimitMs: number
}

const NAME = '@user_script'
/** Where Lua keeps the table of globals in its registry. */
const GLOBALS = 2
/** Instructions between two looks at the clock. */
const LOOK_EVERY = 100_000
/** Compiled scripts that are kept. */
const COMPILED_MAX = 1000

/** One state of Lua in which all scripts of a door run, one at a time. */
export class ScriptEngine {
  readonly #lua: Lua
  /** References to functions, by the hash of their script. */
  readonly #compiled = new Map<string, number>()
  /** References: the table of globals, and what takes errors. */
  readonly #globals: number
  readonly #handler: number
  #host: ScriptHost | undefined

  private constructor(lua: Lua) {
    this.#lua = lua
    const state = lua.main
    if (!lua.compile(state, bytesOf(PRELUDE), '=prelude')) throw new Error(lua.textAt(state, -1))
    this.#pushDoor(state)
    if (!lua.call(state, 1, 3)) throw new Error(lua.textAt(state, -1))
    this.#handler = lua.keep(state)
    lua.setAt(state, REGISTRY, GLOBALS)
    this.#globals = lua.keep(state)
  }

  /** @throws Error if the package is not there. */
  static async load(): Promise<ScriptEngine> {
    return new ScriptEngine(new Lua(await loadLua()))
  }

  /** Why a script cannot be run; undefined if it can. */
  check(sha: string, source: Uint8Array): FaultReply | undefined {
    const fault = this.#pushScript(sha, source)
    this.#lua.setTop(this.#lua.main, 0)
    return fault
  }

  run({ sha, source, keys, args, host, timeLimitMs }: ScriptRun): DoorReply {
    const lua = this.#lua
    const state = lua.main
    this.#host = host
    try {
      lua.pushKept(state, this.#handler)
      const fault = this.#pushScript(sha, source)
      if (fault !== undefined) return fault
      this.#setGlobals(keys, args)
      this.#limit(timeLimitMs)
      const isDone = lua.call(state, 0, 1, 1)
      lua.watch(0, undefined)
      return isDone ? replyAt(lua, state, host.version) : this.#failure(sha)
    } finally {
      lua.watch(0, undefined)
      lua.setTop(state, 0)
      this.#host = undefined
    }
  }

  #limit(timeLimitMs: number): void {
    const endMs = performance.now() + timeLimitMs
    const look = (): void => {
      if (performance.now() < endMs) return
      // From now on at each instruction: a script cannot catch it for good.
      this.#lua.watch(1, look)
      throw new LuaFault(`Script ran for more than ${timeLimitMs} ms, and was ended.`)
    }
    this.#lua.watch(LOOK_EVERY, look)
  }

  #pushScript(sha: string, source: Uint8Array): FaultReply | undefined {
    const lua = this.#lua
    const state = lua.main
    const known = this.#compiled.get(sha)
    if (known !== undefined) {
      lua.pushKept(state, known)
      return undefined
    }
    const text = sourceFor54(latin1Of(source).replace(/^#![^\n]*/, ''))
    if (!lua.compile(state, bytesOf(text), NAME)) {
      const message = oldMessage(lua.textAt(state, -1))
      return { fault: 'ERR', message: `Error compiling script (new function): ${message}` }
    }
    lua.pushCopy(state, -1)
    this.#compiled.set(sha, lua.keep(state))
    if (this.#compiled.size > COMPILED_MAX) this.#forgetOldest()
    return undefined
  }

  #forgetOldest(): void {
    const [sha, reference] = this.#compiled.entries().next().value!
    this.#compiled.delete(sha)
    this.#lua.forget(reference)
  }

  #setGlobals(keys: readonly Uint8Array[], args: readonly Uint8Array[]): void {
    const lua = this.#lua
    const state = lua.main
    lua.pushKept(state, this.#globals)
    for (const [name, list] of [
      ['KEYS', keys],
      ['ARGV', args],
    ] as const) {
      lua.newTable(state, list.length)
      for (const [at, each] of list.entries()) {
        lua.pushBytes(state, each)
        lua.setAt(state, -2, at + 1)
      }
      lua.setField(state, -2, name)
    }
    lua.pop(state, 1)
  }

  /** What the handler of errors has made, as an answer. */
  #failure(sha: string): DoorReply {
    const lua = this.#lua
    const state = lua.main
    if (lua.typeAt(state, -1) !== LuaType.Table) {
      const text = lua.typeAt(state, -1) === LuaType.String ? lua.textAt(state, -1) : 'execution failure'
      return { fault: 'ERR', message: `Error running script ${sha}, ${text.slice(0, 100)}` }
    }
    const [text, source, line] = ['err', 'source', 'line'].map((name) => {
      lua.getField(state, -1, name)
      const found = lua.typeAt(state, -1) === LuaType.Nil ? undefined : lua.textAt(state, -1)
      lua.pop(state, 1)
      return found
    })
    const place = source === undefined || line === undefined ? '' : ` script: ${sha}, on ${source}:${line}.`
    return countedAt(lua, state, faultOfText(`${oldMessage(text ?? 'ERR unknown error')}${place}`))
  }

  /** The functions that the prelude takes. */
  #pushDoor(state: Pointer): void {
    const lua = this.#lua
    lua.newTable(state)
    pushFunctions(
      lua,
      state,
      'redis',
      redisLibrary(lua, () => this.#host!),
    )
    lua.getField(state, -1, 'redis')
    for (const [name, value] of Object.entries(redisNumbers)) {
      lua.pushNumber(state, value)
      lua.setField(state, -2, name)
    }
    lua.pushText(state, REDIS_VERSION)
    lua.setField(state, -2, 'REDIS_VERSION')
    lua.pop(state, 1)
    pushLibraries(lua, state)
    for (const [name, run] of Object.entries(this.#guards())) {
      lua.pushFunction(state, run)
      lua.setField(state, -2, name)
    }
  }

  #guards(): Readonly<Record<string, LuaFunction>> {
    const lua = this.#lua
    return {
      missing: (state) => {
        const name = lua.typeAt(state, 2) === LuaType.String ? lua.textAt(state, 2) : ''
        throw new LuaFault(`Script attempted to access nonexistent global variable '${name}'`)
      },
      readonly: () => {
        throw new LuaFault('Attempt to modify a readonly table')
      },
      loadstring: (state) => {
        const text = lua.textAt(state, 1)
        const name = lua.top(state) > 1 ? lua.textAt(state, 2) : text
        if (lua.compile(state, bytesOf(sourceFor54(text)), name)) return 1
        lua.pushNil(state)
        lua.insert(state, -2)
        return 2
      },
    }
  }
}

/** A message of Lua 5.4 as 5.1 words it. */
function oldMessage(message: string): string {
  return message
    .replace(/ (a|an) (\w+) value \((global|local|field|upvalue|method) '([^']*)'\)/, " $3 '$4' ($1 $2 value)")
    .replace(/attempt to \w+ a '(\w+)' with a '\w+'/, 'attempt to perform arithmetic on a $1 value')
    .replace(/ \(for iterator '[^']*'\)/, '')
    .replace(/(bad argument #\d+ to '\w+)_54'/, "$1'")
    .replace(/ near <eof>/, " near '<eof>'")
}
