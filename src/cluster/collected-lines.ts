import { Writable } from 'node:stream'

/** A stream that passes on what is written to it line by line, for programs that launch ranks and read their output. */
export class CollectedLines extends Writable {
  readonly #take: (line: string) => void
  #rest = ''

  constructor(take: (line: string) => void) {
    super()
    this.#take = take
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const lines = `${this.#rest}${chunk.toString()}`.split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#take(line)
    done()
  }
}
