import { type Lua, LuaFault, type LuaFunction } from './lua.ts'
import type { Pointer } from './wasm.ts'

/** As C casts a double to 32 bits: what is above is cut. */
function bitsOf(value: number): number {
  return Number(BigInt.asIntN(32, BigInt(Number.isFinite(value) ? Math.round(value) : 0)))
}

/** Functions of LuaJIT's `bit`: numbers are of 32 bits, and have a sign. */
export function bitLibrary(lua: Lua): Readonly<Record<string, LuaFunction>> {
  const argument = (state: Pointer, at: number, name: string): number => {
    if (lua.isNumberAt(state, at)) return bitsOf(lua.numberAt(state, at))
    const found = lua.top(state) < at ? 'no value' : lua.typeNameAt(state, at)
    throw new LuaFault(`bad argument #${at} to '${name}' (number expected, got ${found})`)
  }
  const answer = (state: Pointer, value: number): number => {
    lua.pushNumber(state, value | 0)
    return 1
  }
  const folding =
    (name: string, fold: (one: number, other: number) => number): LuaFunction =>
    (state) => {
      let value = argument(state, 1, name)
      for (let at = 2; at <= lua.top(state); at += 1) value = fold(value, argument(state, at, name))
      return answer(state, value)
    }
  const shifting =
    (name: string, shift: (value: number, by: number) => number): LuaFunction =>
    (state) =>
      answer(state, shift(argument(state, 1, name), argument(state, 2, name) & 31))
  return {
    tobit: (state) => answer(state, argument(state, 1, 'tobit')),
    bnot: (state) => answer(state, ~argument(state, 1, 'bnot')),
    band: folding('band', (one, other) => one & other),
    bor: folding('bor', (one, other) => one | other),
    bxor: folding('bxor', (one, other) => one ^ other),
    lshift: shifting('lshift', (value, by) => value << by),
    rshift: shifting('rshift', (value, by) => value >>> by),
    arshift: shifting('arshift', (value, by) => value >> by),
    rol: shifting('rol', (value, by) => (value << by) | (value >>> (32 - by))),
    ror: shifting('ror', (value, by) => (value >>> by) | (value << (32 - by))),
    bswap: (state) => {
      const value = argument(state, 1, 'bswap')
      const outer = (value >>> 24) | (value << 24)
      return answer(state, outer | ((value >>> 8) & 0xff00) | ((value & 0xff00) << 8))
    },
    tohex: (state) => {
      const value = argument(state, 1, 'tohex') >>> 0
      const wanted = lua.top(state) < 2 ? 8 : argument(state, 2, 'tohex')
      const digits = value
        .toString(16)
        .padStart(8, '0')
        .slice(-Math.min(8, Math.abs(wanted)))
      lua.pushText(state, wanted < 0 ? digits.toUpperCase() : digits)
      return 1
    },
  }
}
