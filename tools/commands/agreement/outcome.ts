import type { TimeUnit } from '../../agreement/index.ts'
import type { PlayedWorld } from './plays.ts'

/** What came of a play, in lines: who decided what and when, what it cost, who lied. */
export function outcomeOf(play: PlayedWorld): string[] {
  const { world, liars, notes } = play
  const { messages, writes, reads, claims, permissions, signatures } = world.costs
  const costs = { messages, writes, reads, claims, permissions, signatures }
  const counted = Object.entries(costs).filter(([, count]) => count > 0)
  return [
    ...decisionsOf(play),
    ...(counted.length === 0 ? [] : [`in all: ${counted.map(([name, count]) => countText(count, name)).join(', ')}`]),
    ...liars.map((liar) => `P${liar}`),
    ...notes,
  ]
}

function decisionsOf({ world, isTimed, unit = 'delays' }: PlayedWorld): string[] {
  const processesOf = new Map<string, number[]>()
  for (const [process, values] of world.decisions.entries())
    for (const value of world.isCorrect(process) ? values : []) {
      // Where a seed draws the order, time may stand still.
      const text = isTimed ? `${value} at ${timeText(world.decidedAt[process]!, unit)}` : value
      processesOf.set(text, [...(processesOf.get(text) ?? []), process])
    }
  return [...processesOf].map(
    ([text, processes]) =>
      `${processes.map((process) => `P${process}`).join(', ')} ${processes.length === 1 ? 'decides' : 'decide'} ${text}`,
  )
}

const timeText = (time: number, unit: TimeUnit): string =>
  unit === 'ms' ? `${time.toFixed(1)} ms` : countText(time, unit)

/** `1 message`, `2 messages`: names are in the plural. */
export const countText = (count: number, name: string): string => `${count} ${count === 1 ? name.slice(0, -1) : name}`
