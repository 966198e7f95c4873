import { Buffer } from 'node:buffer'
import { latin1Of } from '../../index-service/index.ts'
import { ProtocolFault } from './request.ts'

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' }
const SPACES = ' \n\r\t\v\f\0'
/** Of spaces, those that end a word without quotes. */
const ENDS = ' \n\r\t\0'

/**
 * The words of an inline request, as Redis splits them. Within "double quotes" there are \n, \r, \t, \b, \a, \xHH and
 * escaped characters. Within 'single quotes' there is \' alone.
 * @throws ProtocolFault if a quote is not closed, or has no space behind it.
 */
export function splitInline(line: Uint8Array): Buffer[] {
  const text = latin1Of(line)
  const words: Buffer[] = []
  for (let at = 0; ; ) {
    while (at < text.length && SPACES.includes(text[at]!)) at += 1
    if (at >= text.length) return words
    const word = readWord(text, at)
    words.push(Buffer.from(word.text, 'latin1'))
    at = word.end
  }
}

interface Word {
  readonly text: string
  readonly end: number
}

function readWord(text: string, start: number): Word {
  let word = ''
  let at = start
  while (at < text.length && !ENDS.includes(text[at]!)) {
    const quote = text[at]!
    if (quote === '"' || quote === "'") {
      const quoted = quote === '"' ? readDouble(text, at + 1) : readSingle(text, at + 1)
      return { text: word + quoted.text, end: quoted.end }
    }
    word += quote
    at += 1
  }
  return { text: word, end: at }
}

function readDouble(text: string, start: number): Word {
  let word = ''
  for (let at = start; at < text.length; at += 1) {
    const character = text[at]!
    if (character === '"') return closed(text, word, at)
    if (character !== '\\' || at + 1 >= text.length) {
      word += character
      continue
    }
    const hexadecimal = /^x([\da-fA-F]{2})/.exec(text.slice(at + 1, at + 4))
    if (hexadecimal !== null) {
      word += String.fromCharCode(Number.parseInt(hexadecimal[1]!, 16))
      at += 3
    } else {
      word += escapes[text[at + 1]!] ?? text[at + 1]!
      at += 1
    }
  }
  throw unbalanced()
}

function readSingle(text: string, start: number): Word {
  let word = ''
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === "'") return closed(text, word, at)
    if (text.startsWith("\\'", at)) at += 1
    word += text[at]!
  }
  throw unbalanced()
}

function closed(text: string, word: string, quoteAt: number): Word {
  const end = quoteAt + 1
  if (end < text.length && !SPACES.includes(text[end]!)) throw unbalanced()
  return { text: word, end }
}

function unbalanced(): ProtocolFault {
  return new ProtocolFault('Protocol error: unbalanced quotes in request')
}
