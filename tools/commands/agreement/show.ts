import { sequenceChart } from '../../agreement/index.ts'
import type { PlayedWorld } from './plays.ts'

/** Prints a play. Returns the exit status. */
export function showPlay({ world, events, liars, violation }: PlayedWorld, json: boolean): number {
  const { algorithm, setting } = world.scene
  const undecided = world.processes.filter(
    (_, process) => world.up[process] && world.isCorrect(process) && world.decisions[process]!.length === 0,
  )
  if (json)
    console.log(JSON.stringify({ algorithm: algorithm.name, setting, events, costs: world.costs }, undefined, 2))
  else {
    console.log(sequenceChart(events, setting))
    const { messages, writes, reads, claims, permissions, signatures } = world.costs
    console.log(
      `\n${messages} messages, ${writes} writes, ${reads} reads, ${claims} claims, ${permissions} permissions, ${signatures} signatures`,
    )
    for (const liar of liars) console.log(`P${liar}`)
  }
  if (undecided.length > 0) console.error(`${undecided.length} of ${world.processes.length} processes did not decide`)
  if (violation !== undefined) console.error(violation)
  return undecided.length > 0 || violation !== undefined ? 1 : 0
}
