import { Buffer } from 'node:buffer'
import { JSON_DEPTH_MAX, type JsonSettings } from './json-settings.ts'
import { type Lua, LuaFault } from './lua.ts'
import type { Pointer } from './wasm.ts'

/** What C takes for a number. */
const NUMBER = /[-+]?(?:0x[\da-f]+|\d+(?:\.\d*)?(?:e[-+]?\d+)?|inf(?:inity)?|nan)/iy
/** What is one in JSON, or at least begins so. */
const STRICT_NUMBER = /-?(?:0(?![\dx])|[1-9]\d*)(?:\.\d*)?(?:e[-+]?\d+)?/iy
const SPACE = /[ \t\n\r]*/y
const WORD = /true|false|null/y
const PLAIN = /[^"\\]*/y

/** The names of tokens in messages, by how they begin. */
const tokens: Readonly<Record<string, string>> = {
  '{': 'T_OBJ_BEGIN',
  '}': 'T_OBJ_END',
  '[': 'T_ARR_BEGIN',
  ']': 'T_ARR_END',
  ',': 'T_COMMA',
  ':': 'T_COLON',
  '"': 'T_STRING',
  true: 'T_BOOLEAN',
  false: 'T_BOOLEAN',
  null: 'T_NULL',
  '': 'T_END',
}

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/** Pushes what JSON says, as `cjson` does. The text is latin1. */
class JsonReader {
  readonly #lua: Lua
  readonly #state: Pointer
  readonly #text: string
  readonly #settings: JsonSettings
  #at = 0
  #depth = 0

  constructor(lua: Lua, state: Pointer, text: string, settings: JsonSettings) {
    this.#settings = settings
    this.#lua = lua
    this.#state = state
    this.#text = text
  }

  /** @throws LuaFault */
  read(): void {
    this.#value()
    this.#skip()
    if (this.#at < this.#text.length) throw this.#unexpected('the end')
  }

  #skip(): void {
    SPACE.lastIndex = this.#at
    SPACE.exec(this.#text)
    this.#at = SPACE.lastIndex
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #value(): void {
    this.#skip()
    const lua = this.#lua
    const state = this.#state
    const start = this.#text[this.#at]
    if (start === '"') {
      lua.pushText(state, this.#string())
      return
    }
    if (start === '{' || start === '[') {
      this.#depth += 1
      if (this.#depth > Math.min(this.#settings.decodeDepthMax, JSON_DEPTH_MAX))
        throw new LuaFault(`Found too many nested data structures (${this.#depth}) at character ${this.#at + 1}`)
      if (start === '{') this.#object()
      else this.#list()
      this.#depth -= 1
      return
    }
    const word = this.#match(WORD)
    if (word === 'null') lua.pushNull(state)
    else if (word !== undefined) lua.pushTruth(state, word === 'true')
    else this.#number()
  }

  #number(): void {
    const { decodesInvalid } = this.#settings
    const start = this.#text[this.#at] ?? ''
    const text = this.#match(decodesInvalid ? NUMBER : STRICT_NUMBER)
    if (text === undefined && (decodesInvalid ? /[-+]/ : /[-\d]/).test(start))
      throw this.#invalid('invalid number', this.#at)
    if (text === undefined) throw this.#unexpected('value')
    const isNegative = text.startsWith('-')
    const plain = text.replace(/^[-+]/, '').toLowerCase()
    const value = plain.startsWith('inf') ? Number.POSITIVE_INFINITY : plain === 'nan' ? Number.NaN : Number(plain)
    this.#lua.pushNumber(this.#state, isNegative ? -value : value)
  }

  #object(): void {
    const lua = this.#lua
    lua.newTable(this.#state)
    const table = lua.top(this.#state)
    this.#at += 1
    if (this.#take('}')) return
    for (;;) {
      this.#skip()
      if (this.#text[this.#at] !== '"') throw this.#unexpected('object key string')
      lua.pushText(this.#state, this.#string())
      if (!this.#take(':')) throw this.#unexpected('colon')
      this.#value()
      lua.setPair(this.#state, table)
      if (this.#take('}')) return
      if (!this.#take(',')) throw this.#unexpected('comma or object end')
    }
  }

  #list(): void {
    const lua = this.#lua
    lua.newTable(this.#state)
    const table = lua.top(this.#state)
    this.#at += 1
    if (this.#take(']')) return
    for (let index = 1; ; index += 1) {
      this.#value()
      lua.setAt(this.#state, table, index)
      if (this.#take(']')) return
      if (!this.#take(',')) throw this.#unexpected('comma or array end')
    }
  }

  #take(character: string): boolean {
    this.#skip()
    if (this.#text[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  #string(): string {
    const start = this.#at
    this.#at += 1
    let text = ''
    for (;;) {
      text += this.#match(PLAIN) ?? ''
      const next = this.#text[this.#at]
      if (next === '"') {
        this.#at += 1
        return text
      }
      if (next !== '\\') throw this.#invalid('unexpected end of string', next === undefined ? this.#at : start)
      text += this.#escape()
    }
  }

  #escape(): string {
    const character = this.#text[this.#at + 1] ?? ''
    if (character === 'u') return this.#unicode()
    const known = escapes[character]
    if (known === undefined) throw this.#invalid('invalid escape code', this.#at)
    this.#at += 2
    return known
  }

  /** As UTF-8, which is latin1 here. */
  #unicode(): string {
    const start = this.#at
    const high = this.#unit()
    if (high === undefined) throw this.#invalid('invalid unicode escape code', start)
    if (high < 0xd800 || high > 0xdfff) return Buffer.from(String.fromCharCode(high)).toString('latin1')
    const low = this.#unit()
    if (high >= 0xdc00 || low === undefined || low < 0xdc00 || low > 0xdfff)
      throw this.#invalid('invalid unicode escape code', start)
    return Buffer.from(String.fromCharCode(high, low)).toString('latin1')
  }

  #unit(): number | undefined {
    const digits = /^\\u([\da-fA-F]{4})/.exec(this.#text.slice(this.#at, this.#at + 6))?.[1]
    if (digits === undefined) return undefined
    this.#at += 6
    return Number.parseInt(digits, 16)
  }

  #unexpected(expected: string): LuaFault {
    const at = this.#at
    const start = this.#text[at]
    const word = this.#match(WORD)
    const number = this.#settings.decodesInvalid ? NUMBER : STRICT_NUMBER
    const isNumber = word === undefined && this.#match(number) !== undefined
    const token = isNumber ? 'T_NUMBER' : (tokens[word ?? start ?? ''] ?? 'invalid token')
    return new LuaFault(`Expected ${expected} but found ${token} at character ${at + 1}`)
  }

  #invalid(what: string, at: number): LuaFault {
    return new LuaFault(`Expected value but found ${what} at character ${at + 1}`)
  }
}

/** Push what JSON says. @throws LuaFault */
export function pushJson(lua: Lua, state: Pointer, text: string, settings: JsonSettings): void {
  new JsonReader(lua, state, text, settings).read()
}
