/** Styles of output. */
export type Mark = 'bold' | 'dim' | 'green' | 'red'

const codes: Readonly<Record<Mark, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  green: [32, 39],
  red: [31, 39],
}

/**
 * Styles text for a terminal. Text stays plain in files and pipes, and if NO_COLOR (https://no-color.org) or TERM=dumb
 * is set.
 */
export type Paint = (mark: Mark, text: string) => string

export function paintFor(stream: { isTTY?: boolean }, environment: NodeJS.ProcessEnv = process.env): Paint {
  const { NO_COLOR, TERM } = environment
  const plain = stream.isTTY !== true || Boolean(NO_COLOR) || TERM === 'dumb'
  if (plain) return (_mark, text) => text
  return (mark, text) => `\u001b[${codes[mark][0]}m${text}\u001b[${codes[mark][1]}m`
}
