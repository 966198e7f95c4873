import { badArgument, wrongType } from './bad-argument.ts'
import { pushJson } from './json-reader.ts'
import { type JsonSettings, jsonSettingFunctions, newJsonSettings } from './json-settings.ts'
import { jsonOf } from './json-writer.ts'
import type { Lua, LuaFunction } from './lua.ts'
import { LuaType, OWN_VALUE, type Pointer } from './wasm.ts'

/**
 * `cjson`. That which all scripts share has its settings here. Those of `cjson.new()` have theirs as text, in a table
 * that their functions hold: so they are gone with them.
 */
export class JsonLibrary {
  readonly #lua: Lua
  readonly #shared = newJsonSettings()
  readonly #pointers: readonly (readonly [name: string, pointer: Pointer])[]

  constructor(lua: Lua) {
    this.#lua = lua
    this.#pointers = Object.entries(this.#functions()).map(([name, run]) => [name, lua.newFunction(run)])
  }

  /** The table that all scripts share. */
  pushShared(state: Pointer): void {
    this.#push(state, (pointer) => this.#lua.pushClosure(state, pointer, 0))
  }

  #pushNew(state: Pointer): void {
    const lua = this.#lua
    lua.newTable(state, 1)
    lua.pushText(state, JSON.stringify(newJsonSettings()))
    lua.setAt(state, -2, 1)
    const own = lua.top(state)
    this.#push(state, (pointer) => {
      lua.pushCopy(state, own)
      lua.pushClosure(state, pointer, 1)
    })
  }

  #push(state: Pointer, pushFunction: (pointer: Pointer) => void): void {
    const lua = this.#lua
    lua.newTable(state, 0, this.#pointers.length + 3)
    for (const [name, pointer] of this.#pointers) {
      pushFunction(pointer)
      lua.setField(state, -2, name)
    }
    lua.pushNull(state)
    lua.setField(state, -2, 'null')
    for (const [name, text] of [
      ['_NAME', 'cjson'],
      ['_VERSION', '2.1.0'],
    ] as const) {
      lua.pushText(state, text)
      lua.setField(state, -2, name)
    }
  }

  #settingsOf(state: Pointer): JsonSettings {
    const lua = this.#lua
    if (lua.typeAt(state, OWN_VALUE) !== LuaType.Table) return this.#shared
    lua.room(state)
    lua.getAt(state, OWN_VALUE, 1)
    const settings = JSON.parse(lua.textAt(state, -1)) as JsonSettings
    lua.pop(state, 1)
    return settings
  }

  #changed(state: Pointer, settings: JsonSettings): void {
    const lua = this.#lua
    if (settings === this.#shared) return
    lua.pushText(state, JSON.stringify(settings))
    lua.setAt(state, OWN_VALUE, 1)
  }

  #functions(): Readonly<Record<string, LuaFunction>> {
    const lua = this.#lua
    return {
      ...jsonSettingFunctions(lua, {
        of: (state) => this.#settingsOf(state),
        changed: (state, settings) => this.#changed(state, settings),
      }),
      encode: (state) => {
        if (lua.top(state) !== 1) throw badArgument(1, 'encode', 'expected 1 argument')
        lua.pushText(state, jsonOf(lua, state, this.#settingsOf(state)))
        return 1
      },
      decode: (state) => {
        if (lua.top(state) !== 1) throw badArgument(1, 'decode', 'expected 1 argument')
        const type = lua.typeAt(state, 1)
        if (type !== LuaType.String && type !== LuaType.Number) throw wrongType(lua, state, 1, 'decode', 'string')
        pushJson(lua, state, lua.textAt(state, 1), this.#settingsOf(state))
        return 1
      },
      new: (state) => {
        this.#pushNew(state)
        return 1
      },
    }
  }
}
