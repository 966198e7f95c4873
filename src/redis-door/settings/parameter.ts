import { CommandFault } from '../../index-service/index.ts'

/** A setting of CONFIG, as text. */
export interface Parameter {
  readonly name: string
  value: string
  /** What is kept for a text. Without it, the setting cannot be changed. @throws CommandFault */
  readonly read?: (text: string) => string
  /** Called with the text, once all that was set with it is accepted. */
  readonly applied?: (text: string) => void
}

const UNITS: Readonly<Record<string, number>> = {
  ...{ b: 1, k: 1000, kb: 1024, m: 1000 ** 2, mb: 1024 ** 2, g: 1000 ** 3, gb: 1024 ** 3 },
}

export function whole(name: string, value: number, min: number, max: number): Parameter {
  return { name, value: String(value), read: (text) => String(wholeOf(text, min, max)) }
}

function wholeOf(text: string, min: number, max: number): number {
  if (!/^-?\d{1,19}$/.test(text)) throw new CommandFault("argument couldn't be parsed into an integer")
  const value = Number(text)
  if (value < min || value > max) throw new CommandFault(`argument must be between ${min} and ${max} inclusive`)
  return value
}

export function memory(name: string, value: number, min: number = 0, max: number = Number.MAX_SAFE_INTEGER): Parameter {
  return {
    name,
    value: String(value),
    read(text) {
      const bytes = bytesOfMemory(text)
      if (bytes === undefined) throw new CommandFault('argument must be a memory value')
      return String(wholeOf(String(bytes), min, max))
    },
  }
}

/** Bytes, or such as 5% of another setting. */
export function memoryOrPercent(name: string, value: number): Parameter {
  const bytes = memory(name, value)
  return {
    ...bytes,
    read(text) {
      const [, percent] = /^(\d{1,9})%$/.exec(text) ?? []
      if (percent === undefined) return bytes.read!(text)
      if (Number(percent) > 100) throw new CommandFault('percentage argument must be less or equal to 100')
      return text
    },
  }
}

/** Such as 64mb: k is 1,000, kb 1,024. */
export function bytesOfMemory(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,16})([a-z]{0,2})$/i.exec(text) ?? []
  const factor = unit === '' ? 1 : UNITS[(unit ?? '?').toLowerCase()]
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor
}

export function flag(name: string, value: 'yes' | 'no'): Parameter {
  return {
    name,
    value,
    read(text) {
      const word = text.toLowerCase()
      if (word !== 'yes' && word !== 'no') throw new CommandFault("argument must be 'yes' or 'no'")
      return word
    },
  }
}

export function choice(name: string, value: string, words: readonly string[]): Parameter {
  return {
    name,
    value,
    read(text) {
      const word = text.toLowerCase()
      if (words.includes(word)) return word
      throw new CommandFault(`argument(s) must be one of the following: ${words.join(', ')}`)
    },
  }
}

export function text(name: string, value: string, read: (text: string) => string = (given) => given): Parameter {
  return { name, value, read }
}

export function fixed(name: string, value: string): Parameter {
  return { name, value }
}

/** What it is now, and may only be set to. */
export function only(name: string, value: string, why: string): Parameter {
  return {
    name,
    value,
    read(given) {
      if (given.toLowerCase() === value) return value
      throw new CommandFault(why)
    },
  }
}
