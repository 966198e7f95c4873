import { type Column, formatCount, formatRatio, formatTime, type Screen } from 'aether-dsm/internal/cli'
import type { CountingWay } from './counter-messages.ts'
import { type CounterOutcome, isCounterOutcomeRight } from './counter-part.ts'

/** Show the first part's figures, and what they say. `redis` is the name of the server. */
export function showCounter(screen: Screen, outcome: CounterOutcome, redis: string): void {
  const { plan, measures, counter, kill } = outcome
  const names: Readonly<Record<CountingWay, string>> = {
    array: 'shared typed array, Atomics.add',
    map: 'shared map, updateSync',
    messages: 'child_process messages',
    redis,
  }
  const right = (title: string): Column => ({ title, align: 'right' })
  const columns = [right('one at a time'), right('ratio'), right(`${plan.batch} at a time`), right('ratio')]
  const fastestMs = measures[0]!.singleMs
  const cells = (ms: number | undefined): string[] =>
    ms === undefined ? ['', ''] : [formatTime(ms), formatRatio(ms / fastestMs)]
  screen.table(
    [{ title: 'time for each visit', align: 'left' }, ...columns],
    measures.map(({ way, singleMs, batchedMs }) => [names[way], ...cells(singleMs), ...cells(batchedMs)]),
  )
  screen.line()
  const expected = plan.processes * plan.arrayVisits
  const verdict =
    counter === expected ? screen.paint('green', 'exact') : screen.paint('red', `WRONG, not ${formatCount(expected)}`)
  screen.line(`  The shared array has ${formatCount(counter)} visits: ${verdict}.`)
  screen.line(`  Then one process is killed (kill -9) while all count. ${killVerdict(screen, outcome)}`)
  screen.line(`  The others keep counting, and are told of its death ${formatTime(kill.reportedMs)} later.`)
}

function killVerdict(screen: Screen, outcome: CounterOutcome): string {
  return isCounterOutcomeRight(outcome)
    ? `${screen.paint('green', 'No visit is lost')}.`
    : screen.paint('red', 'WRONG: the counts and the notes differ.')
}
