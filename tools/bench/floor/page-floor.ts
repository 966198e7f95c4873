import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { CompiledProgram } from './compiled-program.ts'

const run = promisify(execFile)

/** In the first rounds caches and branches are cold. */
const COLD_SHARE = 0.1
/** Between two rounds: by then agents that sleep are asleep. */
const CALM_US = 300
const ROUND_MS_MAX = 100

/**
 * A miss, with agents that sleep before it, as they do in a program that computes, or that are awake. Or the round trip
 * of a word that two threads write in turn, which poll it meanwhile.
 */
export type FloorExchange = 'asleep' | 'awake' | 'turns'

/** The exchanges of page misses in C++ (page-floor.cc), compiled for this run. */
export class PageFloor implements Disposable {
  readonly #program = new CompiledProgram('page-floor')

  /** Nanoseconds of each miss, or round trip. */
  async measure(exchange: FloorExchange, pageBytes: number, rounds: number): Promise<Float64Array> {
    const { stdout } = await run(this.#program.path, [exchange, String(pageBytes), String(rounds), String(CALM_US)], {
      timeout: ROUND_MS_MAX * rounds,
    })
    const samples = Float64Array.from(stdout.trim().split('\n'), Number)
    return samples.subarray(Math.floor(COLD_SHARE * samples.length))
  }

  [Symbol.dispose](): void {
    this.#program[Symbol.dispose]()
  }
}
