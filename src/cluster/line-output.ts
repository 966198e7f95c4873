import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** A longer line is cut: a program that never ends its line must not fill our memory. */
const LINE_LENGTH_MAX = 65_536

/**
 * Merges the output of many programs into one stream, whole lines at a time, each with a prefix. If the stream cannot
 * keep up, the programs wait: their pipes are not read.
 */
export class LineOutput {
  readonly #target: Writable
  readonly #paused = new Set<Readable>()
  readonly #onDrain = (): void => this.#resume()

  constructor(target: Writable) {
    this.#target = target
    target.on('drain', this.#onDrain)
  }

  /** Copy `source` line by line until it ends. */
  add(source: Readable, prefix: string): void {
    const decoder = new StringDecoder('utf8')
    let rest = ''
    source.on('data', (chunk: Buffer) => {
      const lines = `${rest}${decoder.write(chunk)}`.split('\n')
      rest = lines.pop() ?? ''
      for (; rest.length > LINE_LENGTH_MAX; rest = rest.slice(LINE_LENGTH_MAX))
        lines.push(rest.slice(0, LINE_LENGTH_MAX))
      this.#write(lines, prefix, source)
    })
    source.on('end', () => {
      rest += decoder.end()
      if (rest !== '') this.#write([rest], prefix, source)
    })
  }

  /** Stop writing to the stream. */
  close(): void {
    this.#target.off('drain', this.#onDrain)
    this.#resume()
  }

  #write(lines: readonly string[], prefix: string, source: Readable): void {
    if (lines.length === 0 || this.#target.destroyed) return
    if (this.#target.write(lines.map((line) => `${prefix}${line}\n`).join(''))) return
    source.pause()
    this.#paused.add(source)
  }

  #resume(): void {
    for (const source of this.#paused) source.resume()
    this.#paused.clear()
  }
}

/** Sixteen colours would be hard to tell apart. Six are enough to follow neighbours. */
const COLOURS = [36, 33, 32, 35, 34, 31]

/** `[3] `, as wide as the widest rank's; in the rank's colour if `coloured`. */
export function rankPrefix(rank: number, ranks: number, coloured: boolean): string {
  const text = `[${String(rank).padStart(String(ranks - 1).length)}] `
  return coloured ? `\x1b[${COLOURS[rank % COLOURS.length]}m${text}\x1b[39m` : text
}
