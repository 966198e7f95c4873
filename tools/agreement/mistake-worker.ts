/** A thread of its own, with modules of its own: plays an order, or seeds, until a mistake in them is found out. */
import { register } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import type { AgreementMistake } from './mistakes.ts'

export interface AgreementMistakeTask {
  readonly mistake: AgreementMistake
  readonly first: number
  readonly seeds: number
}

const { mistake, first, seeds } = workerData as AgreementMistakeTask
register('../simulation/replicas/mistake-hooks.js', { parentURL: import.meta.url, data: mistake })
const { playSeed } = await import('./play/seeds.ts')
const { directedOf } = await import('./play/directed.ts')
const { playSchedule } = await import('./play/schedule.ts')
const { violationOf } = await import('./play/judge.ts')
const { algorithms } = await import('./algorithms.ts')

const algorithm = algorithms.find(({ name }) => name === mistake.algorithm)!
const order = directedOf(algorithm).find(({ name }) => name === mistake.order)
let violation = order === undefined ? undefined : violationOf(playSchedule(algorithm, order))
let played = 0
while (order === undefined && violation === undefined && played < seeds) {
  ;({ violation } = playSeed(algorithm, first + played, mistake.lie === undefined ? {} : { lie: mistake.lie }))
  played += 1
}
parentPort!.postMessage({ violation, seeds: played })
