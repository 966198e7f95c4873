import { Buffer } from 'node:buffer'
import { type Lua, LuaFault } from './lua.ts'
import type { Pointer } from './wasm.ts'

/** Deeper lists would need more of the stack than there is. */
const DEPTH_MAX = 1500

/** Pushes values that are written as MessagePack, as `cmsgpack` does. */
class Unpacker {
  readonly #lua: Lua
  readonly #state: Pointer
  readonly #bytes: Buffer
  at: number
  #depth = 0

  constructor(lua: Lua, state: Pointer, bytes: Uint8Array, from: number) {
    this.#lua = lua
    this.#state = state
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.at = from
  }

  get isOver(): boolean {
    return this.at >= this.#bytes.length
  }

  /** @throws LuaFault */
  push(): void {
    this.#depth += 1
    if (this.#depth > DEPTH_MAX) throw new LuaFault('stack overflow')
    this.#pushMarked(this.#uint(1))
    this.#depth -= 1
  }

  #pushMarked(mark: number): void {
    const lua = this.#lua
    const state = this.#state
    if (mark < 0x80) lua.pushNumber(state, mark)
    else if (mark >= 0xe0) lua.pushNumber(state, mark - 0x100)
    else if (mark < 0x90) this.#map(mark & 0xf)
    else if (mark < 0xa0) this.#list(mark & 0xf)
    else if (mark < 0xc0) lua.pushBytes(state, this.#take(mark & 0x1f))
    else this.#marked(mark)
  }

  #marked(mark: number): void {
    const lua = this.#lua
    const state = this.#state
    if (mark === 0xc0) lua.pushNil(state)
    else if (mark === 0xc2 || mark === 0xc3) lua.pushTruth(state, mark === 0xc3)
    else if (mark === 0xca) lua.pushNumber(state, this.#take(4).readFloatBE())
    else if (mark === 0xcb) lua.pushNumber(state, this.#take(8).readDoubleBE())
    else if (mark >= 0xcc && mark <= 0xcf) lua.pushNumber(state, this.#uint(2 ** (mark - 0xcc)))
    else if (mark >= 0xd0 && mark <= 0xd3) lua.pushNumber(state, this.#int(2 ** (mark - 0xd0)))
    else if (mark >= 0xc4 && mark <= 0xc6) lua.pushBytes(state, this.#take(this.#uint(2 ** (mark - 0xc4))))
    else if (mark >= 0xd9 && mark <= 0xdb) lua.pushBytes(state, this.#take(this.#uint(2 ** (mark - 0xd9))))
    else if (mark === 0xdc || mark === 0xdd) this.#list(this.#uint(mark === 0xdc ? 2 : 4))
    else if (mark === 0xde || mark === 0xdf) this.#map(this.#uint(mark === 0xde ? 2 : 4))
    else throw new LuaFault('Bad data format in input.')
  }

  #take(count: number): Buffer {
    if (this.at + count > this.#bytes.length) throw new LuaFault('Missing bytes in input.')
    this.at += count
    return this.#bytes.subarray(this.at - count, this.at)
  }

  #uint(bytes: number): number {
    const taken = this.#take(bytes)
    return bytes === 8 ? Number(taken.readBigUInt64BE()) : taken.readUIntBE(0, bytes)
  }

  #int(bytes: number): number {
    const taken = this.#take(bytes)
    return bytes === 8 ? Number(taken.readBigInt64BE()) : taken.readIntBE(0, bytes)
  }

  #list(count: number): void {
    const lua = this.#lua
    lua.newTable(this.#state)
    const table = lua.top(this.#state)
    for (let at = 1; at <= count; at += 1) {
      this.push()
      lua.setAt(this.#state, table, at)
    }
  }

  #map(count: number): void {
    const lua = this.#lua
    lua.newTable(this.#state)
    const table = lua.top(this.#state)
    for (let each = 0; each < count; each += 1) {
      this.push()
      this.push()
      lua.setPair(this.#state, table)
    }
  }
}

/** All values of a string. */
export function unpackAll(lua: Lua, state: Pointer): number {
  const unpacker = new Unpacker(lua, state, lua.bytesAt(state, 1), 0)
  let count = 0
  for (; !unpacker.isOver; count += 1) {
    lua.room(state)
    unpacker.push()
  }
  return count
}

/** Up to `limit` values from an offset on; before them, where the next one is, or -1. */
export function unpackSome(lua: Lua, state: Pointer, limit: number, from: number): number {
  const bytes = lua.bytesAt(state, 1)
  if (from < 0 || from > bytes.length)
    throw new LuaFault(`Start offset ${from} greater than input length ${bytes.length}.`)
  const unpacker = new Unpacker(lua, state, bytes, from)
  const first = lua.top(state)
  let count = 0
  for (; count < limit && !unpacker.isOver; count += 1) unpacker.push()
  lua.pushNumber(state, unpacker.isOver ? -1 : unpacker.at)
  lua.insert(state, first + 1)
  return count + 1
}
