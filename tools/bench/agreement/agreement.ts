import { AgreementCrew, type Algorithm, algorithms } from '../../agreement/index.ts'
import { addressOf } from '../device-address.ts'
import { type LanesRun, laneRow } from '../lanes.ts'
import type { BenchOptions } from '../latency.ts'
import { Replicas } from '../replicate/replicas.ts'
import { type BenchRow, withBaselines } from '../row.ts'

export interface AgreementBenchOptions extends BenchOptions {
  /** Numbers of processes; default 3. There are three memories beside them. */
  readonly processes?: readonly number[]
  /** Default: shared memory, and TCP within this machine. */
  readonly devices?: readonly string[] | undefined
}

export const defaultAgreementProcesses: readonly number[] = [3]
const defaultDevices: readonly string[] = ['shm0', 'tcp-lo']
const DEFAULT_TIME_MS = 100
const MEMORIES = 3
const VALUE_BYTES = 64
/** For the timers of an algorithm. No process is suspected in that time, so nothing but the common case is measured. */
const DELAY_MS = 20
const ROUND_MS_MAX = 60_000
/** Rounds of the same processes, and how many of them come before the engine has compiled the most. */
const roundsOf = { crash: { rounds: 300, cold: 50 }, byzantine: { rounds: 6, cold: 1 } } as const
const SAMPLES_MIN = 10

/**
 * Decisions where nothing fails, by real processes and memories: how long it takes from the proposal of process 0 until
 * it has decided. Beside them, `replicate()` commits commands of the same length with as many replicas.
 */
export async function benchAgreement(options: AgreementBenchOptions = {}): Promise<BenchRow[]> {
  const { timeMs = DEFAULT_TIME_MS, processes = defaultAgreementProcesses, devices = defaultDevices, onRow } = options
  const rows: BenchRow[] = []
  const instead: Record<string, string> = {}
  const keep = (row: BenchRow): void => {
    rows.push(row)
    onRow?.(row)
  }
  for (const count of processes) {
    const base = `replicate-${count}`
    keep(await commits(base, count, timeMs))
    for (const algorithm of algorithms) {
      if (algorithm.refuse({ processes: count, memories: MEMORIES }) !== undefined) continue
      const op = `${algorithm.name}-${count}`
      instead[op] = base
      for (const device of devices) keep(await decisions(op, algorithm, count, device, timeMs))
    }
  }
  return withBaselines(rows, OWN, instead)
}

const OWN = 'aether'

async function commits(op: string, count: number, timeMs: number): Promise<BenchRow> {
  await using replicas = await Replicas.start({ replicas: count })
  const { run, cpuNs } = await replicas.propose(VALUE_BYTES, 1, timeMs)
  return laneRow({ op, provider: OWN, bytes: VALUE_BYTES }, [run], cpuNs)
}

async function decisions(
  op: string,
  algorithm: Algorithm,
  count: number,
  device: string,
  timeMs: number,
): Promise<BenchRow> {
  const samples: number[] = []
  let sumNs = 0
  while (samples.length < SAMPLES_MIN || sumNs < timeMs * 1e6)
    for (const ns of await rounds(algorithm, count, device)) {
      samples.push(ns)
      sumNs += ns
    }
  const run: LanesRun = { samples: Float64Array.from(samples), count: samples.length, tookNs: sumNs }
  return laneRow({ op, provider: device, bytes: VALUE_BYTES }, [run], Number.NaN)
}

/** The times of process 0 in each round, in nanoseconds. */
async function rounds(algorithm: Algorithm, count: number, device: string): Promise<number[]> {
  const { rounds: all, cold } = roundsOf[algorithm.failures]
  const inputs = Array.from({ length: count }, (_, process) => `${process}`.padEnd(VALUE_BYTES, 'x'))
  const setting = { processes: count, memories: MEMORIES }
  const scene = { algorithm, setting, inputs, device, address: addressOf(device), delayMs: DELAY_MS, rounds: all }
  await using crew = await AgreementCrew.start(scene)
  const times: number[] = []
  for (let round = 0; round < all; round += 1) {
    crew.begin(round)
    if (!(await crew.until(() => crew.isOver, ROUND_MS_MAX)))
      throw new Error(`${algorithm.name} over ${device}: a round was not over after ${ROUND_MS_MAX} ms`)
    if (round >= cold) times.push(crew.decisions[0]![0]!.tookMs * 1e6)
  }
  return times
}
