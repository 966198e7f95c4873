import { latin1Of } from '../../../index-service/index.ts'
import { type Lua, LuaFault } from './lua.ts'
import { numberText } from './number-text.ts'
import { LuaType, type Pointer } from './wasm.ts'

const DEPTH_MAX = 1000
/** A list with more holes than this is refused, if it is not short. */
const SPARSE_RATIO = 2
const SPARSE_SAFE = 10

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

/** The value on top of the stack as JSON, as `cjson` writes it: latin1. @throws LuaFault */
export function jsonOf(lua: Lua, state: Pointer, depth: number = 0): string {
  switch (lua.typeAt(state, -1)) {
    case LuaType.String:
      return quoted(lua.bytesAt(state, -1))
    case LuaType.Number:
      return numberOf(lua.numberAt(state, -1))
    case LuaType.Boolean:
      return String(lua.truthAt(state, -1))
    case LuaType.Nil:
      return 'null'
    case LuaType.Table:
      if (depth >= DEPTH_MAX) throw new LuaFault(`Cannot serialise, excessive nesting (${depth + 1})`)
      return tableOf(lua, state, depth + 1)
    case LuaType.LightUserdata:
      return 'null'
    default: {
      const what = lua.typeNameAt(state, -1)
      throw new LuaFault(`Cannot serialise ${what}: type not supported`)
    }
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

function numberOf(value: number): string {
  if (!Number.isFinite(value)) throw new LuaFault('Cannot serialise number: must not be NaN or Inf')
  return numberText(value)
}

function tableOf(lua: Lua, state: Pointer, depth: number): string {
  lua.newTable(state)
  lua.pop(state, 1)
  const length = lengthOf(lua, state)
  if (length === undefined) return objectOf(lua, state, depth)
  const table = lua.top(state)
  const parts: string[] = []
  for (let at = 1; at <= length; at += 1) {
    lua.getAt(state, table, at)
    parts.push(jsonOf(lua, state, depth))
    lua.pop(state, 1)
  }
  return `[${parts.join(',')}]`
}

/** The length of a list; undefined: it is an object, as an empty table is. */
function lengthOf(lua: Lua, state: Pointer): number | undefined {
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
  if (max > count * SPARSE_RATIO && max > SPARSE_SAFE)
    throw new LuaFault('Cannot serialise table: excessively sparse array')
  return max
}

function objectOf(lua: Lua, state: Pointer, depth: number): string {
  const table = lua.top(state)
  const parts: string[] = []
  lua.pushNil(state)
  while (lua.next(state, table)) {
    const type = lua.typeAt(state, -2)
    if (type !== LuaType.Number && type !== LuaType.String)
      throw new LuaFault(`Cannot serialise ${lua.typeNameAt(state, -2)}: table key must be a number or string`)
    const name = type === LuaType.Number ? `"${numberText(lua.numberAt(state, -2))}"` : quoted(lua.bytesAt(state, -2))
    parts.push(`${name}:${jsonOf(lua, state, depth)}`)
    lua.pop(state, 1)
  }
  return `{${parts.join(',')}}`
}
