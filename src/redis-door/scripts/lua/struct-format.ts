import { badArgument } from './bad-argument.ts'
import { LuaFault } from './lua.ts'

/** A value of a format of `struct`: its letter, its bytes, and those that stand before it. */
export interface StructOption {
  readonly letter: string
  readonly bytes: number
  readonly padding: number
  readonly isLittle: boolean
}

/** Letters with a size of their own. */
const sizes: Readonly<Record<string, number>> = {
  ...{ b: 1, B: 1, h: 2, H: 2, l: 8, L: 8, T: 8, f: 4, d: 8, x: 1, s: 0 },
}
/** A size may stand behind these; without one, they have this. */
const sized: Readonly<Record<string, number>> = { i: 4, I: 4, c: 1 }
const INTEGER_BYTES_MAX = 32
/** What `!` says without a number. */
const ALIGNMENT = 8
/** Larger numbers are refused. */
const SIZE_MAX = 2 ** 31 - 1

/** Reads a format from left to right. Where a value goes depends on where the one before it has ended. */
export class StructFormat {
  readonly #format: string
  readonly #name: string
  #at = 0
  #isLittle = true
  #alignment = 1

  /** `name`: of the function that is told when something is wrong. */
  constructor(format: string, name: string) {
    this.#format = format
    this.#name = name
  }

  /**
   * The next value, for a place; undefined at the end. `mayBeUnknown`: other letters take no bytes.
   * @throws LuaFault
   */
  next(place: number, mayBeUnknown: boolean = false): StructOption | undefined {
    for (;;) {
      const letter = this.#format[this.#at]
      if (letter === undefined) return undefined
      this.#at += 1
      const bytes = this.#bytesOf(letter)
      if (bytes !== undefined)
        return { letter, bytes, padding: this.#padding(letter, bytes, place), isLittle: this.#isLittle }
      if (mayBeUnknown && /[\da-z]/i.test(letter)) continue
      this.#control(letter)
    }
  }

  #bytesOf(letter: string): number | undefined {
    const own = sizes[letter]
    if (own !== undefined) return own
    const usual = sized[letter]
    if (usual === undefined) return undefined
    const bytes = this.#number(usual)
    if (letter !== 'c' && bytes > INTEGER_BYTES_MAX)
      throw new LuaFault(`integral size ${bytes} is larger than limit of ${INTEGER_BYTES_MAX}`)
    return bytes
  }

  #control(letter: string): void {
    if (letter === '<' || letter === '>') this.#isLittle = letter === '<'
    else if (letter === '!') {
      this.#alignment = this.#number(ALIGNMENT)
      if (!Number.isInteger(Math.log2(this.#alignment)))
        throw new LuaFault(`alignment ${this.#alignment} is not a power of 2`)
    } else if (letter !== ' ') throw badArgument(1, this.#name, `invalid format option '${letter}'`)
  }

  #number(usual: number): number {
    const digits = /^\d+/.exec(this.#format.slice(this.#at, this.#at + 20))?.[0]
    if (digits === undefined) return usual
    this.#at += digits.length
    if (Number(digits) > SIZE_MAX) throw new LuaFault('integral size overflow')
    return Number(digits)
  }

  #padding(letter: string, bytes: number, place: number): number {
    if (bytes <= 1 || letter === 'c') return 0
    const alignment = Math.min(bytes, this.#alignment)
    return alignment <= 1 ? 0 : (alignment - (place & (alignment - 1))) & (alignment - 1)
  }
}
