import { type Lua, LuaFault } from './lua.ts'
import type { Pointer } from './wasm.ts'

/** As libraries of Lua say it. */
export function badArgument(at: number, name: string, why: string): LuaFault {
  return new LuaFault(`bad argument #${at} to '${name}' (${why})`)
}

/** What was expected, and what there is. */
export function wrongType(lua: Lua, state: Pointer, at: number, name: string, expected: string): LuaFault {
  const found = lua.top(state) < at ? 'no value' : lua.typeNameAt(state, at)
  return badArgument(at, name, `${expected} expected, got ${found}`)
}
