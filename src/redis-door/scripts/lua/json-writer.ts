import { latin1Of } from '../../../index-service/index.ts'
import { JSON_DEPTH_MAX, type JsonSettings } from './json-settings.ts'
import { type Lua, LuaFault } from './lua.ts'
import { checkMade } from './made-bytes.ts'
import { numberText } from './number-text.ts'
import { LuaType, type Pointer } from './wasm.ts'

const escapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
}

/** Writes values as `cjson` does: latin1. */
class JsonWriter {
  readonly #lua: Lua
  readonly #state: Pointer
  readonly #settings: JsonSettings
  /** Of all values until now. */
  #bytes = 0

  constructor(lua: Lua, state: Pointer, settings: JsonSettings) {
    this.#lua = lua
    this.#state = state
    this.#settings = settings
  }

  /** The value on top of the stack. @throws LuaFault */
  write(depth: number): string {
    const lua = this.#lua
    const state = this.#state
    switch (lua.typeAt(state, -1)) {
      case LuaType.String:
        return this.#counted(quoted(lua.bytesAt(state, -1)))
      case LuaType.Number:
        return this.#counted(this.#number(lua.numberAt(state, -1)))
      case LuaType.Boolean:
        return this.#counted(String(lua.truthAt(state, -1)))
      case LuaType.Nil:
        return this.#counted('null')
      case LuaType.Table:
        if (depth >= Math.min(this.#settings.encodeDepthMax, JSON_DEPTH_MAX))
          throw new LuaFault(`Cannot serialise, excessive nesting (${depth + 1})`)
        return this.#table(depth + 1)
      case LuaType.LightUserdata:
        return this.#counted('null')
      default: {
        const what = lua.typeNameAt(state, -1)
        throw new LuaFault(`Cannot serialise ${what}: type not supported`)
      }
    }
  }

  #counted(text: string): string {
    this.#count(text.length)
    return text
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    checkMade(this.#bytes)
  }

  #number(value: number): string {
    const { encodesInvalid, precision } = this.#settings
    if (Number.isFinite(value) || encodesInvalid === true) return numberText(value, precision)
    if (encodesInvalid === 'null') return 'null'
    throw new LuaFault('Cannot serialise number: must not be NaN or Inf')
  }

  #table(depth: number): string {
    const lua = this.#lua
    const state = this.#state
    lua.room(state)
    const length = this.#length()
    if (length === undefined) return this.#object(depth)
    const table = lua.top(state)
    // Before there is any: it may have gaps, each of which is a null.
    this.#count(length)
    const parts: string[] = []
    for (let at = 1; at <= length; at += 1) {
      lua.getAt(state, table, at)
      parts.push(this.write(depth))
      lua.pop(state, 1)
    }
    return `[${parts.join(',')}]`
  }

  /** The length of a list; undefined: it is an object, as an empty table is. */
  #length(): number | undefined {
    const lua = this.#lua
    const state = this.#state
    const table = lua.top(state)
    let [count, max] = [0, 0]
    lua.pushNil(state)
    while (lua.next(state, table)) {
      lua.pop(state, 1)
      const key = lua.typeAt(state, -1) === LuaType.Number ? lua.numberAt(state, -1) : 0
      if (!(key > 0 && Number.isInteger(key))) {
        lua.pop(state, 1)
        return undefined
      }
      max = Math.max(max, key)
      count += 1
    }
    if (count === 0) return undefined
    const { sparseConverts, sparseRatio, sparseSafe } = this.#settings
    if (sparseRatio === 0 || max <= count * sparseRatio || max <= sparseSafe) return max
    if (sparseConverts) return undefined
    throw new LuaFault('Cannot serialise table: excessively sparse array')
  }

  #object(depth: number): string {
    const lua = this.#lua
    const state = this.#state
    const table = lua.top(state)
    const parts: string[] = []
    lua.pushNil(state)
    while (lua.next(state, table)) {
      const type = lua.typeAt(state, -2)
      if (type !== LuaType.Number && type !== LuaType.String)
        throw new LuaFault(`Cannot serialise ${lua.typeNameAt(state, -2)}: table key must be a number or string`)
      const name =
        type === LuaType.Number ? `"${this.#number(lua.numberAt(state, -2))}"` : quoted(lua.bytesAt(state, -2))
      parts.push(`${this.#counted(name)}:${this.write(depth)}`)
      lua.pop(state, 1)
    }
    return `{${parts.join(',')}}`
  }
}

function quoted(bytes: Uint8Array): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
  const text = latin1Of(bytes).replace(/["\\/\x00-\x1f\x7f]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0')
    return escapes[character] ?? `\\u${code}`
  })
  return `"${text}"`
}

/** The value on top of the stack as JSON. @throws LuaFault */
export function jsonOf(lua: Lua, state: Pointer, settings: JsonSettings): string {
  return new JsonWriter(lua, state, settings).write(0)
}
