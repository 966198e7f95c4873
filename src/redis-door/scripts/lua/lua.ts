import { bytesOf, latin1Of } from '../../../index-service/index.ts'
import { type LuaModule, LuaType, type Pointer, REGISTRY } from './wasm.ts'

/** Ends a function with an error of Lua. The message is latin1, or what `push` puts on the stack. */
export class LuaFault extends Error {
  readonly push: ((state: Pointer) => void) | undefined
  /** True: the place in the script goes before the message. */
  readonly isPlaced: boolean

  constructor(
    message: string,
    { push, isPlaced = true }: { push?: (state: Pointer) => void; isPlaced?: boolean } = {},
  ) {
    super(message)
    this.push = push
    this.isPlaced = isPlaced
  }
}

/** What a function of Lua's does: arguments are on the stack, and results, whose number it returns. @throws LuaFault */
export type LuaFunction = (state: Pointer) => number

const HOOK_COUNT = 8

/** A state of Lua with its memory. Strings are bytes. A coroutine has a state of its own, so each call names one. */
export class Lua {
  readonly main: Pointer
  readonly #module: LuaModule
  /** Where Lua puts the length of a string. */
  readonly #length: Pointer
  #buffer: Pointer
  #bufferBytes = 4096
  #hook: Pointer = 0

  constructor(module: LuaModule) {
    this.#module = module
    this.#length = module._malloc(8)
    this.#buffer = module._malloc(this.#bufferBytes)
    this.main = module._luaL_newstate()
    module._luaL_openlibs(this.main)
  }

  top(state: Pointer): number {
    return this.#module._lua_gettop(state)
  }

  setTop(state: Pointer, top: number): void {
    this.#module._lua_settop(state, top)
  }

  pop(state: Pointer, count: number): void {
    this.#module._lua_settop(state, -count - 1)
  }

  typeAt(state: Pointer, index: number): number {
    return this.#module._lua_type(state, index)
  }

  typeNameAt(state: Pointer, index: number): string {
    const name = this.#module._lua_typename(state, this.typeAt(state, index))
    const { HEAPU8 } = this.#module
    return latin1Of(HEAPU8.subarray(name, HEAPU8.indexOf(0, name)))
  }

  /** Of a string, or of a number, which becomes a string. */
  bytesAt(state: Pointer, index: number): Uint8Array {
    const module = this.#module
    const at = module._lua_tolstring(state, index, this.#length)
    if (at === 0) return new Uint8Array()
    return module.HEAPU8.slice(at, at + module.HEAPU32[this.#length >> 2]!)
  }

  textAt(state: Pointer, index: number): string {
    return latin1Of(this.bytesAt(state, index))
  }

  numberAt(state: Pointer, index: number): number {
    return this.#module._lua_tonumberx(state, index, 0)
  }

  /** Also of text that is a number. */
  isNumberAt(state: Pointer, index: number): boolean {
    return this.#module._lua_isnumber(state, index) !== 0
  }

  truthAt(state: Pointer, index: number): boolean {
    return this.#module._lua_toboolean(state, index) !== 0
  }

  lengthAt(state: Pointer, index: number): number {
    return this.#module._lua_rawlen(state, index)
  }

  pushNil(state: Pointer): void {
    this.#module._lua_pushnil(state)
  }

  /** A value that is no other, which programs compare with: a null of JSON. */
  pushNull(state: Pointer): void {
    this.#module._lua_pushlightuserdata(state, 0)
  }

  pushNumber(state: Pointer, value: number): void {
    this.#module._lua_pushnumber(state, value)
  }

  pushTruth(state: Pointer, value: boolean): void {
    this.#module._lua_pushboolean(state, Number(value))
  }

  pushBytes(state: Pointer, bytes: Uint8Array): void {
    this.#module._lua_pushlstring(state, this.#copyIn(bytes), bytes.length)
  }

  pushText(state: Pointer, latin1: string): void {
    this.pushBytes(state, bytesOf(latin1))
  }

  pushCopy(state: Pointer, index: number): void {
    this.#module._lua_pushvalue(state, index)
  }

  /** The top of the stack goes to this place, and what is there, and above, one up. */
  insert(state: Pointer, index: number): void {
    this.#module._lua_rotate(state, index, 1)
  }

  /** A new function, which lives as long as this. */
  pushFunction(state: Pointer, run: LuaFunction): void {
    this.pushClosure(state, this.newFunction(run), 0)
  }

  /** The same for a function that is there, with values from the top of the stack, which become its own. */
  pushClosure(state: Pointer, pointer: Pointer, values: number): void {
    this.#module._lua_pushcclosure(state, pointer, values)
  }

  newFunction(run: LuaFunction): Pointer {
    const module = this.#module
    return module.addFunction((running) => {
      let fault: LuaFault
      try {
        return run(running)
      } catch (error) {
        // What Lua throws goes on its way.
        if (!(error instanceof LuaFault)) throw error
        fault = error
      }
      this.#pushFault(running, fault)
      return module._lua_error(running)
    }, 'ii')
  }

  newTable(state: Pointer, list: number = 0, fields: number = 0): void {
    this.room(state)
    this.#module._lua_createtable(state, list, fields)
  }

  /** Push what a table has at a number. */
  getAt(state: Pointer, table: number, at: number): void {
    this.#module._lua_rawgeti(state, table, BigInt(at))
  }

  /** The top of the stack becomes what a table has at a number. */
  setAt(state: Pointer, table: number, at: number): void {
    this.#module._lua_rawseti(state, table, BigInt(at))
  }

  /** Push what a table has under a name. */
  getField(state: Pointer, table: number, name: string): void {
    const index = table < 0 && table !== REGISTRY ? table - 1 : table
    this.pushText(state, name)
    this.#module._lua_rawget(state, index)
  }

  /** The top of the stack becomes what a table has under a name. */
  setField(state: Pointer, table: number, name: string): void {
    const index = table < 0 && table !== REGISTRY ? table - 1 : table
    this.pushText(state, name)
    this.#module._lua_rotate(state, -2, 1)
    this.#module._lua_rawset(state, index)
  }

  /** The two values on top, a key and what it is for, go to a table. */
  setPair(state: Pointer, table: number): void {
    this.#module._lua_rawset(state, table)
  }

  /** From a key on top of the stack to the next key and its value; false, and nothing, at the end. Nil begins. */
  next(state: Pointer, table: number): boolean {
    return this.#module._lua_next(state, table) !== 0
  }

  /** The string that the values on top are, one behind the other. */
  join(state: Pointer, count: number): void {
    this.#module._lua_concat(state, count)
  }

  /** The top of the stack, kept. */
  keep(state: Pointer): number {
    return this.#module._luaL_ref(state, REGISTRY)
  }

  pushKept(state: Pointer, reference: number): void {
    this.getAt(state, REGISTRY, reference)
  }

  forget(reference: number): void {
    this.#module._luaL_unref(this.main, REGISTRY, reference)
  }

  /** Push a function with what a text of Lua 5.4 says, or an error, and false. */
  compile(state: Pointer, text: Uint8Array, name: string): boolean {
    const module = this.#module
    const [source, mode] = [this.#newBytes(text), this.#newBytes(bytesOf('t\0'))]
    const chunk = this.#newBytes(bytesOf(`${name}\0`))
    const status = module._luaL_loadbufferx(state, source, text.length, chunk, mode)
    for (const pointer of [source, mode, chunk]) module._free(pointer)
    return status === 0
  }

  /** Call what is below the arguments; `handler`: where the function stands that takes errors. False: there is one. */
  call(state: Pointer, args: number, results: number, handler: number = 0): boolean {
    return this.#module._lua_pcallk(state, args, results, handler, 0, 0) === 0
  }

  /** Call back each time that as many instructions were run; undefined: not any more. */
  watch(every: number, look: ((state: Pointer) => void) | undefined): void {
    const module = this.#module
    if (look === undefined) {
      module._lua_sethook(this.main, 0, 0, 0)
      return
    }
    this.#look = look
    this.#hook ||= module.addFunction((state) => {
      let fault: LuaFault
      try {
        this.#look(state)
        return undefined
      } catch (error) {
        if (!(error instanceof LuaFault)) throw error
        fault = error
      }
      this.#pushFault(state, fault)
      module._lua_error(state)
      return undefined
    }, 'vii')
    module._lua_sethook(this.main, this.#hook, HOOK_COUNT, every)
  }

  #look: (state: Pointer) => void = () => undefined

  #pushFault(state: Pointer, { message, push, isPlaced }: LuaFault): void {
    if (push !== undefined) {
      push(state)
      return
    }
    if (isPlaced) this.#module._luaL_where(state, 1)
    this.pushText(state, message)
    if (isPlaced) this.join(state, 2)
  }

  /** For a few values on the stack. @throws LuaFault if it is too high. */
  room(state: Pointer): void {
    if (this.#module._lua_checkstack(state, 8) === 0) throw new LuaFault('stack overflow')
  }

  #copyIn(bytes: Uint8Array): Pointer {
    const module = this.#module
    if (bytes.length > this.#bufferBytes) {
      module._free(this.#buffer)
      this.#bufferBytes = bytes.length * 2
      this.#buffer = module._malloc(this.#bufferBytes)
    }
    module.HEAPU8.set(bytes, this.#buffer)
    return this.#buffer
  }

  #newBytes(bytes: Uint8Array): Pointer {
    const pointer = this.#module._malloc(bytes.length + 1)
    this.#module.HEAPU8.set(bytes, pointer)
    return pointer
  }
}

/** All values of a list, from 1 on, or only those before the first nil. */
export function listAt(lua: Lua, state: Pointer, table: number, visit: (at: number) => void): number {
  for (let at = 1; ; at += 1) {
    lua.getAt(state, table, at)
    if (lua.typeAt(state, -1) === LuaType.Nil) {
      lua.pop(state, 1)
      return at - 1
    }
    visit(at)
    lua.pop(state, 1)
  }
}
