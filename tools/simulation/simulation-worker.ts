/** A thread that plays plans: one seed at a time, for as long as it is given any. */
import { parentPort } from 'node:worker_threads'
import { type PlanOptions, planSimulation } from './plan.ts'
import { simulate } from './simulate.ts'

/** Pool to worker. */
export interface SeedTask {
  readonly seed: number
  readonly options: PlanOptions
  /** Play it twice, and compare. */
  readonly twice: boolean
}

/** Worker to pool. */
export interface SeedReport {
  readonly seed: number
  readonly protocol: string
  readonly nodes: number
  readonly hazards: number
  readonly events: number
  readonly accesses: number
  readonly virtualNs: number
  readonly deaths: number
  /** Pages that were lost with them. */
  readonly lost: number
  /** How often a page went back to what was fenced last. */
  readonly restored: number
  readonly searched: boolean
  readonly violation: string | undefined
}

const port = parentPort!

port.on('message', ({ seed, options, twice }: SeedTask) => {
  const plan = planSimulation(seed, options)
  const result = simulate(plan)
  const { events, accesses, virtualNs, searched, deaths, lost, restored, traceHash } = result
  const again = twice ? simulate(plan).traceHash : traceHash
  const differs =
    again === traceHash ? undefined : `determinism: two runs of the same seed took courses ${traceHash} and ${again}`
  const report: SeedReport = {
    seed,
    protocol: plan.protocol,
    nodes: plan.nodes,
    hazards: plan.hazards.length,
    events,
    accesses,
    virtualNs,
    searched,
    deaths,
    lost,
    restored,
    violation: result.violation ?? differs,
  }
  port.postMessage(report)
})
