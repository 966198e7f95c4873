import { openSync, writeSync } from 'node:fs'
import process from 'node:process'
import { IndexError } from '../../../src/public/index-service.ts'

/** Milliseconds of a clock that all processes of a machine share. */
const sharedNowMs = (): number => Number(process.hrtime.bigint()) / 1e6

/** A line of the file. */
export interface RecordedCall {
  readonly name: number
  readonly call: number
  readonly at: number
  /** Of the call. */
  readonly input?: unknown
  /** Of its return; null: it had no effect, and will not have one. */
  readonly output?: unknown
}

/** Writes down calls, and what they return, at once: what is in the file outlives the process. */
export class CallRecord {
  readonly #file: number
  readonly #name: number
  #calls = 0
  #values = 0
  #returned = 0

  /** `name`: a number that no other client has. */
  constructor(path: string, name: number) {
    this.#file = openSync(path, 'a')
    this.#name = name
  }

  /** A value that is written once. */
  newValue(): number {
    this.#values += 1
    return this.#name * 1_000_000 + this.#values
  }

  /** Calls that have returned. */
  get returned(): number {
    return this.#returned
  }

  /** Undefined if the call failed: what has become of it is written down. */
  async during<T, Output>(
    input: object,
    run: () => Promise<T>,
    outputOf: (value: T) => Output,
  ): Promise<T | undefined> {
    this.#calls += 1
    const call = this.#calls
    this.#write({ name: this.#name, call, at: sharedNowMs(), input })
    try {
      const value = await run()
      this.#write({ name: this.#name, call, at: sharedNowMs(), output: outputOf(value) })
      this.#returned += 1
      return value
    } catch (error) {
      if (!(error instanceof IndexError)) throw error
      if (error.outcome === 'not-applied') this.#write({ name: this.#name, call, at: sharedNowMs(), output: null })
      return undefined
    }
  }

  #write(line: RecordedCall): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`)
  }
}
