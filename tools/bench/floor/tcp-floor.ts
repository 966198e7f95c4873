import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type BenchRow, rowOf } from '../row.ts'
import { CompiledProgram } from './compiled-program.ts'

const run = promisify(execFile)

/** In the first rounds caches and branches are cold. */
const COLD_SHARE = 0.1
const RUN_MS_MAX = 60_000
const OUTPUT_BYTES_MAX = 64 << 20

/** Round trips between two ends that spin or sleep, or one way. */
export type TcpExchange = 'spinning' | 'blocking' | 'stream'

/** Messages of a round, and parts that one operation is of it. */
const perRound: Readonly<Record<TcpExchange, number>> = { spinning: 2, blocking: 2, stream: 32 }

/** Bytes over a socket between two processes in C++ (tcp-floor.cc), compiled for this run. */
export class TcpFloor implements Disposable {
  readonly #program = new CompiledProgram('tcp-floor')

  /** The row of one message, under the name of the operation that it is held against. */
  async row(op: string, exchange: TcpExchange, bytes: number, timeMs: number): Promise<BenchRow> {
    const { stdout } = await run(this.#program.path, [exchange, String(bytes), String(timeMs)], {
      timeout: RUN_MS_MAX,
      maxBuffer: OUTPUT_BYTES_MAX,
    })
    const numbers = Float64Array.from(stdout.trim().split('\n'), Number)
    const rounds = numbers.subarray(0, -1)
    const batchNs = rounds.slice(Math.min(rounds.length - 1, Math.floor(COLD_SHARE * rounds.length)))
    const cpuNs = (numbers.at(-1)! * batchNs.length) / rounds.length
    return rowOf(op, `C ${exchange}`, bytes, { batchSize: 1, batchNs, cpuNs }, perRound[exchange])
  }

  [Symbol.dispose](): void {
    this.#program[Symbol.dispose]()
  }
}
