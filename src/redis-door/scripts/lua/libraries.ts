import { wrongType } from './bad-argument.ts'
import { bitLibrary } from './bit-library.ts'
import { JsonLibrary } from './json-library.ts'
import type { Lua, LuaFunction } from './lua.ts'
import { packAll } from './message-pack.ts'
import { unpackAll, unpackSome } from './message-unpack.ts'
import { structLibrary } from './struct-library.ts'
import { LuaType, type Pointer } from './wasm.ts'

/** Libraries that scripts of Redis find, besides those of Lua. */
export function pushLibraries(lua: Lua, state: Pointer): void {
  pushFunctions(lua, state, 'bit', bitLibrary(lua))
  new JsonLibrary(lua).pushShared(state)
  lua.setField(state, -2, 'cjson')
  pushFunctions(lua, state, 'cmsgpack', packLibrary(lua))
  pushFunctions(lua, state, 'struct', structLibrary(lua))
}

/** A table with functions, for a name in the table on top of the stack. */
export function pushFunctions(
  lua: Lua,
  state: Pointer,
  name: string,
  functions: Readonly<Record<string, LuaFunction>>,
): void {
  lua.newTable(state, 0, Object.keys(functions).length)
  for (const [each, run] of Object.entries(functions)) {
    lua.pushFunction(state, run)
    lua.setField(state, -2, each)
  }
  lua.setField(state, -2, name)
}

function packLibrary(lua: Lua): Readonly<Record<string, LuaFunction>> {
  const limited = (state: Pointer, name: string, offsetAt: number, limit: number): number => {
    textArgument(lua, state, name)
    const offset = lua.top(state) < offsetAt ? 0 : lua.numberAt(state, offsetAt)
    return unpackSome(lua, state, limit, offset)
  }
  return {
    pack: (state) => packAll(lua, state),
    unpack: (state) => {
      textArgument(lua, state, 'unpack')
      return unpackAll(lua, state)
    },
    unpack_one: (state) => limited(state, 'unpack_one', 2, 1),
    unpack_limit: (state) => limited(state, 'unpack_limit', 3, lua.numberAt(state, 2)),
  }
}

function textArgument(lua: Lua, state: Pointer, name: string): string {
  const type = lua.typeAt(state, 1)
  if (type === LuaType.String || type === LuaType.Number) return lua.textAt(state, 1)
  throw wrongType(lua, state, 1, name, 'string')
}
