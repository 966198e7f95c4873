/**
 * Puts a prefix before each line that comes in pieces; a line is passed on when it is whole. Without a prefix pieces go
 * on at once.
 */
import { StringDecoder } from 'node:string_decoder'

export function linePrefixer(prefix, stream) {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  return {
    write(piece) {
      const text = rest + decoder.write(piece)
      if (prefix === '') {
        stream.write(text)
        return
      }
      const lines = text.split('\n')
      rest = lines.pop()
      if (lines.length > 0) stream.write(lines.map((line) => `${prefix}${line}\n`).join(''))
    },
    end() {
      if (rest !== '') stream.write(`${prefix}${rest}\n`)
      rest = ''
    },
  }
}
