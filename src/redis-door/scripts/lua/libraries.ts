import { bitLibrary } from './bit-library.ts'
import { pushJson } from './json-reader.ts'
import { jsonSettingFunctions, newJsonSettings } from './json-settings.ts'
import { jsonOf } from './json-writer.ts'
import { type Lua, LuaFault, type LuaFunction } from './lua.ts'
import { packAll } from './message-pack.ts'
import { unpackAll, unpackSome } from './message-unpack.ts'
import { structLibrary } from './struct-library.ts'
import { LuaType, type Pointer } from './wasm.ts'

/** Libraries that scripts of Redis find, besides those of Lua. */
export function pushLibraries(lua: Lua, state: Pointer): void {
  pushFunctions(lua, state, 'bit', bitLibrary(lua))
  pushFunctions(lua, state, 'cjson', jsonLibrary(lua))
  lua.getField(state, -1, 'cjson')
  lua.pushNull(state)
  lua.setField(state, -2, 'null')
  lua.pop(state, 1)
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

function jsonLibrary(lua: Lua): Readonly<Record<string, LuaFunction>> {
  const settings = newJsonSettings()
  return {
    ...jsonSettingFunctions(lua, settings),
    encode: (state) => {
      if (lua.top(state) !== 1) throw new LuaFault("bad argument #1 to 'encode' (expected 1 argument)")
      lua.pushText(state, jsonOf(lua, state, settings))
      return 1
    },
    decode: (state) => {
      if (lua.top(state) !== 1) throw new LuaFault("bad argument #1 to 'decode' (expected 1 argument)")
      pushJson(lua, state, textArgument(lua, state, 'decode'), settings)
      return 1
    },
  }
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
  const found = lua.top(state) === 0 ? 'no value' : lua.typeNameAt(state, 1)
  throw new LuaFault(`bad argument #1 to '${name}' (string expected, got ${found})`)
}
