/** The few ways in which output is marked. */
export type Mark = 'bold' | 'dim' | 'green' | 'red'

const codes: Readonly<Record<Mark, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  green: [32, 39],
  red: [31, 39],
}

/**
 * Marks text for a terminal; leaves it plain in files and pipes, and where NO_COLOR (https://no-color.org) or TERM=dumb
 * ask for that.
 */
export type Paint = (mark: Mark, text: string) => string

export function paintFor(stream: { isTTY?: boolean }, environment: NodeJS.ProcessEnv = process.env): Paint {
  const { NO_COLOR, TERM } = environment
  const plain = stream.isTTY !== true || Boolean(NO_COLOR) || TERM === 'dumb'
  if (plain) return (_mark, text) => text
  return (mark, text) => `\u001b[${codes[mark][0]}m${text}\u001b[${codes[mark][1]}m`
}
