import process from 'node:process'
import { endingSignals } from 'aether-dsm/internal/cli'

/**
 * Of a process that a benchmark has started: a terminal sends its signals to the whole group. The one that measures
 * hears of it and ends the others; ended before, they would only be missed by it. Where it is gone they end, too.
 */
export function endWithParent(): void {
  for (const signal of endingSignals) process.on(signal, () => {})
  process.on('disconnect', () => process.exit(0))
}
