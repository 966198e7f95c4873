import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { SimulationOptions } from '../../../src/providers/index.ts'
import { type CaseResult, conformanceCases, formatReport } from '../../../src/testing/index.ts'
import { conform } from './simulated-conformance.ts'

const SEEDS = [1, 2, 3]

/** Everything that the rules leave open. */
const gentle: SimulationOptions = {
  network: { jitterNs: 3000, tail: 0.05, tailNs: 20_000 },
  adapter: { tear: 0.5, earlyAcknowledge: 0.5, completionNs: 3000 },
}
/** And everything that retries make good. */
const rough: SimulationOptions = {
  ...gentle,
  network: { ...gentle.network, loss: 0.03, duplicate: 0.05, reorder: 0.05 },
}

async function conforms(
  seed: number,
  options: SimulationOptions,
  isExcused: (result: CaseResult) => boolean,
): Promise<void> {
  const report = await conform(seed, options)
  const wrong = report.results.filter((result) => result.outcome !== 'passed' && !isExcused(result))
  assert.deepEqual(wrong, [], `seed ${seed}: ${formatReport({ ...report, results: wrong })}`)
  assert.equal(report.results.length, conformanceCases.length)
}

const never = (): boolean => false

/**
 * Where packets are lost: what nobody repeats is lost with them (datagrams, unreliable connections), and so is a
 * refusal, whose sender then answers no more; the cases of dynamic connections allow one retry only.
 */
function isLoss({ name, reason }: CaseResult): boolean {
  if (/^(uc|ud|dc): /.test(name)) return true
  return /^\+ 'RetryExceeded \(12\)'\n- '(Remote|RetryExceeded)/m.test(reason) || /RemoteAccessError\]/.test(reason)
}

test('sim conforms, and nothing is unsupported', () => conforms(1, {}, never))

for (const seed of SEEDS) {
  test(`sim conforms where times and orders are any that the rules allow, seed ${seed}`, () =>
    conforms(seed, gentle, never))
  test(`sim conforms where packets are lost, doubled and overtaken, seed ${seed}`, () => conforms(seed, rough, isLoss))
}
