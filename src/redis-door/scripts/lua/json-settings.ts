import { badArgument, wrongType } from './bad-argument.ts'
import type { Lua, LuaFunction } from './lua.ts'
import { LuaType, type Pointer } from './wasm.ts'

/** How `cjson` reads and writes. Scripts may change it, and it holds for all that come after, as in Redis. */
export interface JsonSettings {
  /** Lists with too many holes become objects. Else they are refused. */
  sparseConverts: boolean
  /** A list is too sparse if it is longer than its elements times this. 0: none is. */
  sparseRatio: number
  /** Lists up to this length are not. */
  sparseSafe: number
  encodeDepthMax: number
  decodeDepthMax: number
  /** Digits of a number. */
  precision: number
  /** What is written for what is not a finite number: itself, null, or nothing, since it is refused. */
  encodesInvalid: boolean | 'null'
  decodesInvalid: boolean
  /** It changes nothing here. */
  keepsBuffer: boolean
}

export function newJsonSettings(): JsonSettings {
  return {
    ...{ sparseConverts: false, sparseRatio: 2, sparseSafe: 10, encodeDepthMax: 1000, decodeDepthMax: 1000 },
    ...{ precision: 14, encodesInvalid: false, decodesInvalid: true, keepsBuffer: true },
  }
}

/** Deeper tables would need more of the stack than there is, whatever a script has set. */
export const JSON_DEPTH_MAX = 1500
const INT_MAX = 2 ** 31 - 1
const PRECISION_MAX = 14

/** The settings of the `cjson` whose function runs. */
export interface JsonSettingsPlace {
  of(state: Pointer): JsonSettings
  changed(state: Pointer, settings: JsonSettings): void
}

/** Functions of `cjson` that change settings, if they are given some, and answer with them. */
export function jsonSettingFunctions(lua: Lua, place: JsonSettingsPlace): Readonly<Record<string, LuaFunction>> {
  const isGiven = (state: Pointer, at: number): boolean => lua.top(state) >= at && lua.typeAt(state, at) !== LuaType.Nil
  const whole = (state: Pointer, at: number, name: string, [min, max]: readonly [number, number]): number => {
    if (!lua.isNumberAt(state, at)) throw wrongType(lua, state, at, name, 'number')
    const value = Math.trunc(lua.numberAt(state, at))
    // As in Redis, this names the first argument, whichever it was.
    if (!(value >= min && value <= max)) throw badArgument(1, name, `expected integer between ${min} and ${max}`)
    return value
  }
  const choice = (state: Pointer, name: string, words: readonly string[]): string | boolean => {
    const type = lua.typeAt(state, 1)
    if (type === LuaType.Boolean) return lua.truthAt(state, 1)
    if (type !== LuaType.String && type !== LuaType.Number) throw wrongType(lua, state, 1, name, 'string')
    const word = lua.textAt(state, 1)
    if (!words.includes(word)) throw badArgument(1, name, `invalid option '${word}'`)
    return word === 'on' || (word === 'off' ? false : word)
  }
  const setting =
    (name: string, max: number, run: (state: Pointer, settings: JsonSettings) => number): LuaFunction =>
    (state) => {
      if (lua.top(state) > max) throw badArgument(max + 1, name, 'found too many arguments')
      const settings = place.of(state)
      const results = run(state, settings)
      // Without arguments, nothing has changed.
      if (lua.top(state) > results) place.changed(state, settings)
      return results
    }
  const wholeSetting = (
    name: string,
    field: 'encodeDepthMax' | 'decodeDepthMax' | 'precision',
    max: number,
  ): LuaFunction =>
    setting(name, 1, (state, settings) => {
      if (isGiven(state, 1)) settings[field] = whole(state, 1, name, [1, max])
      lua.pushNumber(state, settings[field])
      return 1
    })
  const truthSetting = (name: string, field: 'decodesInvalid' | 'keepsBuffer'): LuaFunction =>
    setting(name, 1, (state, settings) => {
      if (isGiven(state, 1)) settings[field] = choice(state, name, ['off', 'on']) === true
      lua.pushTruth(state, settings[field])
      return 1
    })
  return {
    encode_max_depth: wholeSetting('encode_max_depth', 'encodeDepthMax', INT_MAX),
    decode_max_depth: wholeSetting('decode_max_depth', 'decodeDepthMax', INT_MAX),
    encode_number_precision: wholeSetting('encode_number_precision', 'precision', PRECISION_MAX),
    encode_keep_buffer: truthSetting('encode_keep_buffer', 'keepsBuffer'),
    decode_invalid_numbers: truthSetting('decode_invalid_numbers', 'decodesInvalid'),
    encode_invalid_numbers: setting('encode_invalid_numbers', 1, (state, settings) => {
      if (isGiven(state, 1))
        settings.encodesInvalid = choice(state, 'encode_invalid_numbers', ['off', 'on', 'null']) as boolean | 'null'
      if (settings.encodesInvalid === 'null') lua.pushText(state, 'null')
      else lua.pushTruth(state, settings.encodesInvalid)
      return 1
    }),
    encode_sparse_array: setting('encode_sparse_array', 3, (state, settings) => {
      const name = 'encode_sparse_array'
      if (isGiven(state, 1)) settings.sparseConverts = choice(state, name, ['off', 'on']) === true
      if (isGiven(state, 2)) settings.sparseRatio = whole(state, 2, name, [0, INT_MAX])
      if (isGiven(state, 3)) settings.sparseSafe = whole(state, 3, name, [0, INT_MAX])
      lua.pushTruth(state, settings.sparseConverts)
      lua.pushNumber(state, settings.sparseRatio)
      lua.pushNumber(state, settings.sparseSafe)
      return 3
    }),
  }
}
