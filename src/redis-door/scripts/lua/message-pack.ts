import { Buffer } from 'node:buffer'
import { type Lua, LuaFault } from './lua.ts'
import { MadeBytes } from './made-bytes.ts'
import { LuaType, type Pointer } from './wasm.ts'

/** Deeper tables are written as nil. */
const DEPTH_MAX = 16

/** Writes values as MessagePack, as `cmsgpack` does. */
class Packer {
  readonly #lua: Lua
  readonly #state: Pointer
  readonly #made = new MadeBytes()

  constructor(lua: Lua, state: Pointer) {
    this.#lua = lua
    this.#state = state
  }

  bytes(): Uint8Array {
    return this.#made.bytes
  }

  /** The value on top of the stack. */
  write(depth: number): void {
    const lua = this.#lua
    switch (lua.typeAt(this.#state, -1)) {
      case LuaType.String:
        this.#string(lua.bytesAt(this.#state, -1))
        return
      case LuaType.Boolean:
        this.#raw(lua.truthAt(this.#state, -1) ? 0xc3 : 0xc2)
        return
      case LuaType.Number:
        this.#number(lua.numberAt(this.#state, -1))
        return
      case LuaType.Table:
        if (depth === DEPTH_MAX) this.#raw(0xc0)
        else this.#table(depth + 1)
        return
      default:
        this.#raw(0xc0)
    }
  }

  #raw(...bytes: number[]): void {
    this.#made.add(Uint8Array.from(bytes))
  }

  #sized(size: number, marks: readonly [mark: number, bytes: number][]): void {
    const [mark, bytes] = marks.find(([, each]) => size < 2 ** (8 * each))!
    const head = Buffer.alloc(bytes + 1)
    head[0] = mark
    head.writeUIntBE(size, 1, bytes)
    this.#made.add(head)
  }

  #string(bytes: Uint8Array): void {
    if (bytes.length < 32) this.#raw(0xa0 | bytes.length)
    else
      this.#sized(bytes.length, [
        [0xd9, 1],
        [0xda, 2],
        [0xdb, 4],
      ])
    this.#made.add(bytes)
  }

  #number(value: number): void {
    if (!Number.isInteger(value) || Math.abs(value) >= 2 ** 63) this.#double(value)
    else if (value >= 0) this.#positive(value)
    else this.#negative(value)
  }

  #positive(value: number): void {
    if (value < 0x80) this.#raw(value)
    else if (value < 2 ** 32)
      this.#sized(value, [
        [0xcc, 1],
        [0xcd, 2],
        [0xce, 4],
      ])
    else {
      const bytes = Buffer.alloc(9)
      bytes[0] = 0xcf
      bytes.writeBigUInt64BE(BigInt(value), 1)
      this.#made.add(bytes)
    }
  }

  #negative(value: number): void {
    if (value >= -32) {
      this.#raw(value & 0xff)
      return
    }
    const size = value >= -128 ? 1 : value >= -32_768 ? 2 : value >= -(2 ** 31) ? 4 : 8
    const bytes = Buffer.alloc(size + 1)
    bytes[0] = { 1: 0xd0, 2: 0xd1, 4: 0xd2, 8: 0xd3 }[size]
    if (size === 8) bytes.writeBigInt64BE(BigInt(value), 1)
    else bytes.writeIntBE(value, 1, size)
    this.#made.add(bytes)
  }

  /** In four bytes if nothing is lost. */
  #double(value: number): void {
    const isShort = Math.fround(value) === value
    const bytes = Buffer.alloc(isShort ? 5 : 9)
    bytes[0] = isShort ? 0xca : 0xcb
    if (isShort) bytes.writeFloatBE(value, 1)
    else bytes.writeDoubleBE(value, 1)
    this.#made.add(bytes)
  }

  #table(depth: number): void {
    const lua = this.#lua
    const state = this.#state
    lua.room(state)
    const table = lua.top(state)
    const { count, isList } = shapeOf(lua, state)
    if (isList) {
      if (count < 16) this.#raw(0x90 | count)
      else
        this.#sized(count, [
          [0xdc, 2],
          [0xdd, 4],
        ])
      for (let at = 1; at <= count; at += 1) {
        lua.getAt(state, table, at)
        this.write(depth)
        lua.pop(state, 1)
      }
      return
    }
    if (count < 16) this.#raw(0x80 | count)
    else
      this.#sized(count, [
        [0xde, 2],
        [0xdf, 4],
      ])
    lua.pushNil(state)
    while (lua.next(state, table)) {
      lua.pushCopy(state, -2)
      this.write(depth)
      lua.pop(state, 1)
      this.write(depth)
      lua.pop(state, 1)
    }
  }
}

function shapeOf(lua: Lua, state: Pointer): { readonly count: number; readonly isList: boolean } {
  const table = lua.top(state)
  let [count, max, isList] = [0, 0, true]
  lua.pushNil(state)
  while (lua.next(state, table)) {
    lua.pop(state, 1)
    const key = lua.typeAt(state, -1) === LuaType.Number ? lua.numberAt(state, -1) : 0
    if (!(key > 0 && Number.isInteger(key))) isList = false
    max = Math.max(max, key)
    count += 1
  }
  return { count, isList: isList && max === count }
}

/** All arguments, one behind the other. */
export function packAll(lua: Lua, state: Pointer): number {
  const count = lua.top(state)
  if (count === 0) throw new LuaFault("bad argument #0 to 'pack' (MessagePack pack needs input.)")
  const packer = new Packer(lua, state)
  for (let at = 1; at <= count; at += 1) {
    lua.pushCopy(state, at)
    packer.write(0)
    lua.pop(state, 1)
  }
  lua.pushBytes(state, packer.bytes())
  return 1
}
