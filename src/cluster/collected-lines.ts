import { Writable } from 'node:stream'

/** A stream that hands over what is written to it line by line: for who launches ranks and reads what they say. */
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
