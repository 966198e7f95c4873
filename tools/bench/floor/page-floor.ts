import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { AetherError } from 'aether-dsm/internal/native'
import { ScratchDirectory } from '../scratch-directory.ts'

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
  readonly #scratch = new ScratchDirectory()
  readonly #program: string

  /** @throws AetherError where there is no compiler, or it fails. */
  constructor() {
    this.#program = join(this.#scratch.path, 'page-floor')
    const source = fileURLToPath(new URL('./page-floor.cc', import.meta.url))
    const compiler = process.env['CXX'] ?? 'c++'
    try {
      execFileSync(compiler, ['-std=c++17', '-O2', '-pthread', source, '-o', this.#program], { stdio: 'pipe' })
    } catch (error) {
      this[Symbol.dispose]()
      throw new AetherError(
        'ERR_AETHER_BENCH',
        `${compiler} does not compile page-floor.cc: ${(error as Error).message}`,
      )
    }
  }

  /** Nanoseconds of each miss, or round trip. */
  async measure(exchange: FloorExchange, pageBytes: number, rounds: number): Promise<Float64Array> {
    const { stdout } = await run(this.#program, [exchange, String(pageBytes), String(rounds), String(CALM_US)], {
      timeout: ROUND_MS_MAX * rounds,
    })
    const samples = Float64Array.from(stdout.trim().split('\n'), Number)
    return samples.subarray(Math.floor(COLD_SHARE * samples.length))
  }

  [Symbol.dispose](): void {
    this.#scratch[Symbol.dispose]()
  }
}
