/** What the demo says as JSON, and what has to be right in it. */
import assert from 'node:assert/strict'
import type { CounterOutcome } from '../../../tools/demo/counter-part.ts'
import type { DemoOutcome } from '../../../tools/demo/demo-run.ts'
import type { ExchangeOutcome } from '../../../tools/demo/rank-exchanging.ts'
import { aether } from '../../cli/command-line.ts'

export function demoAsJson(...args: string[]): DemoOutcome {
  const { status, stdout, stderr } = aether('demo', '--json', ...args)
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout) as DemoOutcome
}

function assertCounted({ counter, kill }: CounterOutcome): void {
  assert.equal(counter, 4_000_000)
  const noted = kill.noted.reduce((sum, note) => sum + note, 0)
  assert(kill.counter === noted || kill.counter === noted + 1, `${kill.counter} and ${noted}`)
  assert.deepEqual(kill.noted.slice(0, 3), [1_000_000, 1_000_000, 1_000_000])
  assert(kill.noted[3]! > 0)
}

/** The same ranks by processes that share no memory. */
function assertExchanged(
  exchanges: readonly ExchangeOutcome[],
  withoutRedis: string | undefined,
  nodes: number,
  rounds: number,
): void {
  assert.deepEqual(
    exchanges.map(({ way, processes, iterations, same }) => ({ way, processes, iterations, same })),
    (withoutRedis === undefined ? ['messages', 'redis'] : ['messages']).map((way) => ({
      way,
      processes: nodes,
      iterations: rounds,
      same: true,
    })),
  )
}

/** Counts exactly, then ranks a graph through hardware coherence as one process alone does. */
export function assertRanksAsOneAlone(nodes: number): void {
  const wanted = ['--kron', '13', '--nodes', String(nodes), '--coherence', 'hardware']
  const { right, counter, pageRank, bodies, withoutRedis } = demoAsJson(...wanted)
  assert(right)
  assert(counter)
  assertCounted(counter)
  const [group] = pageRank.groups
  assert.equal(group!.same, true)
  assert.equal(group!.members.length, nodes)
  assert.equal(group!.iterations, pageRank.alone.iterations)
  assert.equal(
    group!.members.reduce((sum, { edges }) => sum + edges, 0),
    2 ** 17,
  )
  assert.equal(pageRank.central.length, 10)
  assertExchanged(pageRank.exchanges, withoutRedis, nodes, pageRank.alone.iterations)
  assert.deepEqual(
    counter.measures.map(({ way }) => way),
    ['array', 'map', 'messages', ...(withoutRedis === undefined ? ['redis'] : [])],
  )
  assert.equal(bodies, undefined)
}
