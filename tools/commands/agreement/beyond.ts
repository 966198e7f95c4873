import { UsageError } from 'aether-dsm/internal/cli'
import { type Algorithm, beyondOf, playBeyond, sequenceChart, type WorldEvent } from '../../agreement/index.ts'

/** Draws what happens on the other side of the bound. Returns 1 if it is not what should happen there. */
export function showBeyond(algorithm: Algorithm, json: boolean): number {
  let status = 0
  const orders = beyondOf(algorithm)
  if (orders.length === 0)
    throw new UsageError(`no order beyond the bound of ${algorithm.name} is written`, 'agreement')
  const plays = orders.map((beyond) => {
    const events: WorldEvent[] = []
    const { violation, isStuck } = playBeyond(algorithm, beyond, (event) => events.push(event))
    if (beyond.shows === 'no decision' ? !isStuck : violation === undefined) status = 1
    return {
      ...beyond,
      outcome: violation ?? (isStuck ? 'nothing more can happen that has not happened' : 'all decide'),
      events,
    }
  })
  if (json) console.log(JSON.stringify(plays, undefined, 2))
  else
    for (const { name, shows, setting, outcome, events } of plays)
      console.log(`${algorithm.name}: ${name}\n\n${sequenceChart(events, setting)}\n\n${shows}: ${outcome}\n`)
  return status
}
