import { Buffer } from 'node:buffer'
import { badArgument, wrongType } from './bad-argument.ts'
import { type Lua, LuaFault, type LuaFunction } from './lua.ts'
import { MadeBytes } from './made-bytes.ts'
import { StructFormat, type StructOption } from './struct-format.ts'
import { LuaType, type Pointer } from './wasm.ts'

const SIGNED = 'bhli'

/** `struct`: values as C keeps them in memory. */
export function structLibrary(lua: Lua): Readonly<Record<string, LuaFunction>> {
  return {
    pack: (state) => pack(lua, state),
    unpack: (state) => unpack(lua, state),
    size: (state) => {
      const format = new StructFormat(textAt(lua, state, 1, 'size').toString('latin1'), 'size')
      let size = 0
      for (let option = format.next(size, true); option !== undefined; option = format.next(size, true)) {
        const { letter, bytes, padding } = option
        if (letter === 's') throw badArgument(1, 'size', "option 's' has no fixed size")
        if (letter === 'c' && bytes === 0) throw badArgument(1, 'size', "option 'c0' has no fixed size")
        size += padding + bytes
      }
      lua.pushNumber(state, size)
      return 1
    },
  }
}

function pack(lua: Lua, state: Pointer): number {
  const format = new StructFormat(textAt(lua, state, 1, 'pack').toString('latin1'), 'pack')
  const made = new MadeBytes()
  let argument = 1
  for (let option = format.next(0); option !== undefined; option = format.next(made.length)) {
    made.addZeros(option.padding)
    if (option.letter === 'x') made.addZeros(1)
    else {
      argument += 1
      made.add(packed(lua, state, argument, option))
    }
  }
  lua.pushBytes(state, made.bytes)
  return 1
}

function packed(lua: Lua, state: Pointer, at: number, option: StructOption): Uint8Array {
  const { letter, bytes, isLittle } = option
  if (letter === 's') return Buffer.concat([textAt(lua, state, at, 'pack'), Buffer.alloc(1)])
  if (letter === 'c') {
    const text = textAt(lua, state, at, 'pack')
    if (text.length < bytes) throw badArgument(at + 1, 'pack', 'string too short')
    return bytes === 0 ? text : text.subarray(0, bytes)
  }
  const value = numberAt(lua, state, at, 'pack')
  const packed = Buffer.alloc(bytes)
  if (letter === 'f') packed.writeFloatLE(value)
  else if (letter === 'd') packed.writeDoubleLE(value)
  else {
    let rest = bitsOf(value)
    for (let byte = 0; byte < bytes; byte += 1) {
      packed[byte] = Number(rest & 0xffn)
      rest >>= 8n
    }
  }
  return isLittle ? packed : packed.reverse()
}

/** As C casts a double to 64 bits. */
function bitsOf(value: number): bigint {
  if (value >= 2 ** 64) return 0n
  const isTooSmall = Number.isNaN(value) || value < -(2 ** 63)
  return BigInt.asUintN(64, isTooSmall ? 2n ** 63n : BigInt(Math.trunc(value)))
}

function unpack(lua: Lua, state: Pointer): number {
  const format = new StructFormat(textAt(lua, state, 1, 'unpack').toString('latin1'), 'unpack')
  const data = textAt(lua, state, 2, 'unpack')
  const offset = lua.top(state) < 3 ? 1 : Math.trunc(numberAt(lua, state, 3, 'unpack'))
  if (offset === 0 || Number.isNaN(offset)) throw badArgument(3, 'unpack', 'offset must be 1 or greater')
  let place = offset < 0 ? Infinity : offset - 1
  lua.setTop(state, 2)
  let count = 0
  for (let option = format.next(place); option !== undefined; option = format.next(place)) {
    lua.room(state)
    place += option.padding
    if (place + option.bytes > data.length) throw tooShort()
    if (option.letter === 'x') place += 1
    else if (option.letter === 's') place = pushTerminated(lua, state, data, place)
    else if (option.letter === 'c' && option.bytes === 0) {
      place = pushCounted(lua, state, data, place)
      count -= 1
    } else {
      pushFixed(lua, state, data.subarray(place, place + option.bytes), option)
      place += option.bytes
    }
    if (option.letter !== 'x') count += 1
  }
  lua.pushNumber(state, place + 1)
  return count + 1
}

function tooShort(): LuaFault {
  return badArgument(2, 'unpack', 'data string too short')
}

function pushTerminated(lua: Lua, state: Pointer, data: Buffer, place: number): number {
  const end = data.indexOf(0, place)
  if (end < 0) throw new LuaFault('unfinished string in data')
  lua.pushBytes(state, data.subarray(place, end))
  return end + 1
}

/** As many bytes as the value before says. That value is taken away. */
function pushCounted(lua: Lua, state: Pointer, data: Buffer, place: number): number {
  if (lua.top(state) < 3 || !lua.isNumberAt(state, -1)) throw new LuaFault("format 'c0' needs a previous size")
  const bytes = Math.trunc(lua.numberAt(state, -1))
  lua.pop(state, 1)
  if (!(bytes >= 0 && place + bytes <= data.length)) throw tooShort()
  lua.pushBytes(state, data.subarray(place, place + bytes))
  return place + bytes
}

function pushFixed(lua: Lua, state: Pointer, part: Buffer, { letter, isLittle }: StructOption): void {
  if (letter === 'c') {
    lua.pushBytes(state, part)
    return
  }
  const bytes = isLittle ? part : Buffer.from(part).reverse()
  if (letter === 'f') lua.pushNumber(state, bytes.readFloatLE())
  else if (letter === 'd') lua.pushNumber(state, bytes.readDoubleLE())
  else lua.pushNumber(state, integerOf(bytes.subarray(0, 8), SIGNED.includes(letter)))
}

/** What is above 64 bits is cut. */
function integerOf(bytes: Buffer, isSigned: boolean): number {
  let value = 0n
  for (const byte of [...bytes].reverse()) value = value * 256n + BigInt(byte)
  return Number(isSigned ? BigInt.asIntN(8 * bytes.length, value) : value)
}

function textAt(lua: Lua, state: Pointer, at: number, name: string): Buffer {
  const type = lua.typeAt(state, at)
  if (type !== LuaType.String && type !== LuaType.Number) throw wrongType(lua, state, at, name, 'string')
  return Buffer.from(lua.bytesAt(state, at))
}

function numberAt(lua: Lua, state: Pointer, at: number, name: string): number {
  if (!lua.isNumberAt(state, at)) throw wrongType(lua, state, at, name, 'number')
  return lua.numberAt(state, at)
}
