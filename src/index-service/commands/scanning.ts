import { bytesOf, latin1Of } from '../values/latin1.ts'
import { isWord, notAnInteger, numberOf, parseInteger } from './numbers.ts'
import { matches } from './patterns.ts'
import { CommandFault, syntaxFault } from './reply.ts'

const COUNT = 10
const CURSOR_MAX = 2n ** 64n - 1n

export interface ScanOptions {
  readonly cursor: number
  readonly count: number
  /** True if the text, as latin1, is wanted. */
  readonly isWanted: (text: string) => boolean
  /** In lower case. */
  readonly type: string | undefined
}

/** A zero byte ends it, as in C. @throws CommandFault */
export function cursorOf(argument: Uint8Array): number {
  const text = latin1Of(argument).split('\0', 1)[0]!
  if (text === '') return 0
  if (!/^[+-]?\d+$/.test(text) || BigInt(text.replace('+', '')) > CURSOR_MAX) throw new CommandFault('invalid cursor')
  const cursor = Number(text)
  return Number.isSafeInteger(cursor) && cursor >= 0 ? cursor : 0
}

/** Options of SCAN and its like from `at` on. @throws CommandFault */
export function scanOptions(args: readonly Uint8Array[], at: number, cursor: number): ScanOptions {
  let count = COUNT
  let pattern: string | undefined
  let type: string | undefined
  for (let position = at; position < args.length; position += 2) {
    const [option, value] = [args[position]!, args[position + 1]]
    if (value === undefined) throw syntaxFault()
    if (isWord(option, 'count')) {
      if (parseInteger(value) === undefined) throw notAnInteger()
      count = numberOf(value)
      if (count < 1) throw syntaxFault()
    } else if (isWord(option, 'match')) pattern = latin1Of(value)
    else if (isWord(option, 'type') && at === 1) type = latin1Of(value).toLowerCase()
    else throw syntaxFault()
  }
  const isWanted = pattern === undefined || pattern === '*' ? () => true : (text: string) => matches(pattern, text)
  return { cursor, count, isWanted, type }
}

export function cursorReply(cursor: number): Uint8Array {
  return bytesOf(String(cursor))
}
