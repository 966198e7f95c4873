import type { Column, Screen } from 'aether-dsm/internal/cli'
import { formatCount, formatRate, formatTime } from 'aether-dsm/internal/cli'
import { type CounterOutcome, type CountingMeasure, isCounterOutcomeRight } from './counter-part.ts'

const columns: readonly Column[] = [
  { title: '+1 through', align: 'left' },
  { title: 'additions', align: 'right' },
  { title: 'time', align: 'right' },
  { title: 'rate', align: 'right' },
]

/** Show the first part's figures, and what they say. */
export function showCounter(screen: Screen, outcome: CounterOutcome): void {
  const { plan, shared, sent, asked, counter } = outcome
  screen.table(columns, [
    row('shared memory (Atomics.add)', shared),
    row('child_process messages, one way', sent),
    row('child_process messages, each answered', asked),
  ])
  screen.line()
  const expected = plan.processes * plan.sharedTimes
  const exact = counter === expected
  const verdict = exact
    ? screen.paint('green', 'exact')
    : screen.paint('red', `WRONG, expected ${formatCount(expected)}`)
  screen.line(`  The counter says ${formatCount(counter)}: ${verdict}.`)
  showKill(screen, outcome)
}

function row(through: string, { increments, ms }: CountingMeasure): string[] {
  return [through, formatCount(increments), formatTime(ms), formatRate((increments / ms) * 1000)]
}

function showKill(screen: Screen, outcome: CounterOutcome): void {
  const { noted, counter, reportedMs } = outcome.kill
  const total = noted.reduce((sum, note) => sum + note, 0)
  screen.line()
  screen.line('  Again, each noting every addition it made; the last one is killed (SIGKILL) in the middle.')
  screen.line(`  Noted:   ${noted.map(formatCount).join(' + ')} = ${formatCount(total)}`)
  screen.line(`  Counter: ${formatCount(counter)}`)
  screen.line(`  ${verdictOf(screen, outcome, counter - total)}`)
  screen.line(`  The space reported the death ${formatTime(reportedMs)} after the signal; the others never stopped.`)
}

function verdictOf(screen: Screen, outcome: CounterOutcome, ahead: number): string {
  if (!isCounterOutcomeRight(outcome))
    return screen.paint('red', `WRONG: the counter is ahead of the notes by ${ahead}`)
  const nothingLost = `${screen.paint('green', 'Nothing is lost')}: what the dead process did is counted`
  if (ahead === 0) return `${nothingLost}, to the last addition.`
  return `${nothingLost}; the 1 more is its last addition, which it did not live to note.`
}
