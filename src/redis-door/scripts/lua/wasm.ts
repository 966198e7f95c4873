import { Buffer } from 'node:buffer'
import { bytesOf } from '../../../index-service/index.ts'

/** A pointer, or a state of Lua. */
export type Pointer = number

/** What is used of Lua's interface for C, as the package has it. */
export interface LuaModule {
  readonly HEAPU8: Uint8Array
  readonly HEAPU32: Uint32Array
  addFunction(run: (state: Pointer, second: Pointer) => number | undefined, signature: string): Pointer
  _malloc(bytes: number): Pointer
  _free(pointer: Pointer): void
  _luaL_newstate(): Pointer
  _luaL_openlibs(state: Pointer): void
  _luaL_loadbufferx(state: Pointer, text: Pointer, bytes: number, name: Pointer, mode: Pointer): number
  _luaL_where(state: Pointer, level: number): void
  _luaL_ref(state: Pointer, table: number): number
  _luaL_unref(state: Pointer, table: number, reference: number): void
  _lua_pcallk(state: Pointer, args: number, results: number, handler: number, context: number, then: number): number
  _lua_gettop(state: Pointer): number
  _lua_settop(state: Pointer, index: number): void
  _lua_pushvalue(state: Pointer, index: number): void
  _lua_rotate(state: Pointer, index: number, count: number): void
  _lua_checkstack(state: Pointer, count: number): number
  _lua_type(state: Pointer, index: number): number
  _lua_typename(state: Pointer, type: number): Pointer
  _lua_tonumberx(state: Pointer, index: number, isNumber: Pointer): number
  _lua_isnumber(state: Pointer, index: number): number
  _lua_toboolean(state: Pointer, index: number): number
  _lua_tolstring(state: Pointer, index: number, length: Pointer): Pointer
  _lua_rawlen(state: Pointer, index: number): number
  _lua_next(state: Pointer, index: number): number
  _lua_concat(state: Pointer, count: number): void
  _lua_pushnil(state: Pointer): void
  _lua_pushnumber(state: Pointer, value: number): void
  _lua_pushboolean(state: Pointer, value: number): void
  _lua_pushlstring(state: Pointer, text: Pointer, bytes: number): Pointer
  _lua_pushcclosure(state: Pointer, run: Pointer, upvalues: number): void
  _lua_pushlightuserdata(state: Pointer, value: Pointer): void
  _lua_createtable(state: Pointer, list: number, fields: number): void
  _lua_rawgeti(state: Pointer, index: number, at: bigint): number
  _lua_rawseti(state: Pointer, index: number, at: bigint): void
  _lua_rawget(state: Pointer, index: number): number
  _lua_rawset(state: Pointer, index: number): void
  _lua_error(state: Pointer): number
  _lua_sethook(state: Pointer, hook: Pointer, mask: number, count: number): void
}

export const LuaType = {
  Nil: 0,
  Boolean: 1,
  LightUserdata: 2,
  Number: 3,
  String: 4,
  Table: 5,
  Function: 6,
  Userdata: 7,
  Thread: 8,
} as const

/** What luaconf.h says of the package's build. */
export const REGISTRY = -1_001_000
/** The first value of a closure. */
export const OWN_VALUE: number = REGISTRY - 1
/**
 * With these characters alone, Lua 5.4 takes a double for one that looks like an integer, and adds `.0` where it shows
 * it. Lua 5.1 does not: without the characters, nothing looks like an integer.
 */
const LOOKS_LIKE_INTEGER = bytesOf('-0123456789\0')

/**
 * Lua in WebAssembly, from the package `wasmoon`, which users install.
 * @throws Error if it is not there, or is not as expected.
 */
export async function loadLua(): Promise<LuaModule> {
  const { LuaWasm } = await import('wasmoon')
  const { module } = (await LuaWasm.initialize()) as unknown as { module: LuaModule }
  const memory = Buffer.from(module.HEAPU8.buffer, 0, module.HEAPU8.length)
  const at = memory.indexOf(LOOKS_LIKE_INTEGER)
  if (at < 0) throw new Error('this version of wasmoon shows numbers otherwise')
  memory[at] = 0
  return module
}
