import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { alternatedRows, type Round } from '../../../tools/bench/alternated/alternated-row.ts'
import { aether } from '../../cli/command-line.ts'
import { root } from '../../repository/checkout.ts'

const options = { skip: process.platform === 'linux' ? false : 'the shm device needs Linux' }

function round(samples: readonly number[], opsPerSec: number, cpuNs: number): Round {
  const scheduler = { cpuNs, delayNs: Number.NaN, sleeps: 0, preemptions: 0 }
  return { samples: Float64Array.from(samples), opsPerSec, count: samples.length, scheduler }
}

test('rows have medians over the rounds, and ratios are those within a round', () => {
  const own = [round([10, 10, 40], 100, 30), round([20, 20, 20], 300, 60), round([90, 90, 90], 200, 90)]
  const socket = [round([10, 10, 10], 100, 3), round([40, 40, 40], 100, 3), round([90, 90, 90], 100, 3)]
  const [ours, theirs] = alternatedRows({ op: 'call-1', bytes: 8, busy: 2 }, [
    { provider: 'shm', rounds: own },
    { provider: 'Unix socket', rounds: socket },
  ])
  const { p50Ns, meanNs, p99Ns, opsPerSec, cpuNsPerOp, delayNsPerOp, rounds, busy } = ours!
  assert.deepEqual([p50Ns, meanNs, p99Ns, opsPerSec, rounds, busy], [20, 20, 40, 200, 3, 2])
  assert.deepEqual([cpuNsPerOp, delayNsPerOp], [20, null])
  // Of the three rounds 1, 0.5 and 1; 2, 0.5 and 1; 4, 0.5 and 1; 1, 3 and 2.
  assert.deepEqual([ours!.p50Ratio, ours!.meanRatio, ours!.p99Ratio, ours!.rateRatio], [1, 1, 1, 2])
  assert.deepEqual([ours!.baseline, theirs!.baseline, theirs!.p50Ratio], ['call-1, Unix socket', null, null])
  assert.equal(theirs!.p50Ns, 40)
})

for (const [name, ops] of [
  ['messaging', ['message-loop']],
  ['rpc', ['call-1', 'clients-2']],
] as const)
  test(`bench ${name} --loads takes turns with a Unix socket, and promises the same rows each time`, options, () => {
    const directory = mkdtempSync(join(tmpdir(), 'aether-bench-test-'))
    const file = join(directory, 'rows.json')
    try {
      const words = ['--loads', '0,1', '--rounds', '2', '--time-ms', '1', ...(name === 'rpc' ? ['--clients', '2'] : [])]
      const { status, stdout, stderr } = aether('bench', name, ...words, '--json')
      assert.equal(status, 0, stderr)
      const rows = JSON.parse(stdout) as { op: string; provider: string; busy: number; rounds: number }[]
      assert.deepEqual(
        rows.map(({ op, provider, busy, rounds }) => [op, provider, busy, rounds]),
        ops.flatMap((op) => [0, 1].flatMap((busy) => ['shm', 'Unix socket'].map((way) => [op, way, busy, 2]))),
      )
      writeFileSync(file, stdout)
      const check = spawnSync(process.execPath, [join(root, 'scripts/check-bench.mjs'), file], { encoding: 'utf8' })
      assert.equal(check.status, 0, check.stderr)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

test('what --loads does not take is refused', () => {
  const peers = aether('bench', 'rpc', '--loads', '0', '--peers', 'socket')
  assert.equal(peers.status, 2)
  assert.match(peers.stderr, /--peers is not for bench rpc --loads, which takes /)
  const rounds = aether('bench', 'messaging', '--rounds', '3')
  assert.equal(rounds.status, 2)
  assert.match(rounds.stderr, /--rounds needs --loads/)
})
