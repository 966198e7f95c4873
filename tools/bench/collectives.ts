import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type CollectiveName, countTraffic } from 'aether-dsm/internal/collectives'
import type { PeerAddress } from 'aether-dsm/internal/messaging'
import { AetherError } from 'aether-dsm/internal/native'
import { type CollectivesCell, type CollectivesReport, type CollectivesRow, ELEMENT_BYTES } from './collectives-row.ts'
import { addressOf } from './device-address.ts'
import { distributionOf } from './quantiles.ts'

/** Calls before those that count, by which their number is found, too. */
const WARM_CALLS = 10
const CALLS_MIN = 20
const CALLS_MAX = 20_000

export interface CollectivesBenchOptions {
  readonly device: string
  readonly collectives: readonly CollectiveName[]
  readonly processes: readonly number[]
  /** Lengths in bytes. */
  readonly sizes: readonly number[]
  readonly cellMs: number
  readonly onRow?: (row: CollectivesRow) => void
}

/**
 * Every algorithm of every collective, by number of processes and length: measured among real processes, and counted in
 * its schedules.
 */
export async function benchCollectives(options: CollectivesBenchOptions): Promise<CollectivesRow[]> {
  const { device, collectives, processes, sizes, cellMs, onRow } = options
  const rows: CollectivesRow[] = []
  for (const size of processes) {
    const members = await Members.start(device, size)
    try {
      for (const collective of collectives) {
        for (const bytes of collective === 'barrier' ? [ELEMENT_BYTES] : sizes) {
          for (const row of await benchCall(members, collective, bytes, cellMs)) {
            rows.push(row)
            onRow?.(row)
          }
        }
      }
    } finally {
      members.close()
    }
  }
  return rows
}

async function benchCall(
  members: Members,
  op: CollectiveName,
  about: number,
  cellMs: number,
): Promise<CollectivesRow[]> {
  const { size, oneMachine } = members
  const rows: CollectivesRow[] = []
  // The tokens of a barrier are bytes.
  const elementBytes = op === 'barrier' ? 1 : ELEMENT_BYTES
  for (const traffic of countTraffic({ collective: op, size, bytes: about, elementBytes, oneMachine })) {
    const { algorithm, count, bytes, chosen, chosenInRankOrder, rounds, messages, elements, busiestElements } = traffic
    const warm = await members.carryOut({ op, algorithm, count, calls: WARM_CALLS })
    const eachNs = Math.max(1, warm.ns.reduce((sum, ns) => sum + ns, 0) / warm.ns.length)
    const calls = Math.round(Math.min(CALLS_MAX, Math.max(CALLS_MIN, (cellMs * 1e6) / eachNs)))
    const { ns, cpuNs } = await members.carryOut({ op, algorithm, count, calls })
    rows.push({
      op,
      algorithm,
      chosen: chosen && chosenInRankOrder ? 'both' : chosen ? 'default' : chosenInRankOrder ? 'deterministic' : '',
      processes: size,
      bytes,
      samples: calls,
      ...distributionOf(Float64Array.from(ns)),
      cpuNsPerOp: Math.round(cpuNs / calls),
      rounds,
      messages,
      sentBytes: elements * elementBytes,
      busiestBytes: busiestElements * elementBytes,
    })
  }
  return rows
}

/** Processes that are connected with each other; rank is the place in the list. */
class Members {
  readonly size: number
  /** As the members find by themselves. */
  readonly oneMachine: boolean
  readonly #children: readonly ChildProcess[]

  private constructor(device: string, children: readonly ChildProcess[]) {
    this.size = children.length
    this.oneMachine = device.startsWith('shm')
    this.#children = children
  }

  static async start(device: string, size: number): Promise<Members> {
    const program = fileURLToPath(new URL('./collectives-member.js', import.meta.url))
    const numbers = Array.from({ length: size }, (_, number) => String(number))
    const members = new Members(
      device,
      numbers.map((number) => fork(program, [number, device, addressOf(device)])),
    )
    try {
      const addresses = await members.#heard<PeerAddress>()
      await members.#ask<string>(addresses)
      return members
    } catch (error) {
      members.close()
      throw error
    }
  }

  /** Times are those of rank 0, processor time that of all. */
  async carryOut(cell: CollectivesCell): Promise<CollectivesReport> {
    const reports = await this.#ask<CollectivesReport>(cell)
    return { ns: reports[0]!.ns, cpuNs: reports.reduce((sum, { cpuNs }) => sum + cpuNs, 0) }
  }

  close(): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }

  #ask<Answer>(order: readonly PeerAddress[] | CollectivesCell): Promise<Answer[]> {
    const answers = this.#heard<Answer>()
    for (const child of this.#children) child.send(order)
    return answers
  }

  #heard<Answer>(): Promise<Answer[]> {
    return Promise.all(this.#children.map((child) => heard<Answer>(child)))
  }
}

async function heard<Answer>(child: ChildProcess): Promise<Answer> {
  const ended = new AbortController()
  const onExit = (): void => ended.abort()
  child.once('exit', onExit)
  try {
    const [answer] = (await once(child, 'message', { signal: ended.signal })) as [Answer]
    return answer
  } catch (cause) {
    if (!ended.signal.aborted) throw cause
    const what = 'a process of the benchmark ended; what it complained of stands above'
    throw new AetherError('ERR_AETHER_BENCH', what, { cause })
  } finally {
    child.off('exit', onExit)
  }
}
