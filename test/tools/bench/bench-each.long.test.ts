/** Each benchmark: held against an earlier run, drawn, interrupted. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { benchLatency } from '../../../tools/bench/latency.ts'
import { whyNoMesi } from '../../../tools/demo/mesi-support.ts'
import { aether } from '../../cli/command-line.ts'
import { root } from '../../repository/checkout.ts'
import { MarkedProcesses } from '../../support/marked-processes.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
/** Of each benchmark the least that there is to be measured; those of coherent memory where this machine has it. */
const cheapRuns: readonly (readonly string[])[] = [
  ['latency', '--sizes', '8,64', '--time-ms', '1', '--peers', 'none'],
  ['bandwidth', '--sizes', '8,64', '--time-ms', '1'],
  ['messaging', '--sizes', '8', '--time-ms', '1', '--peers', 'none'],
  ['rpc', '--sizes', '8', '--time-ms', '1', '--peers', 'none', '--depths', '1,2', '--clients', '1'],
  ['messaging', '--loads', '0,1', '--rounds', '1', '--time-ms', '1'],
  ['rpc', '--loads', '0,1', '--rounds', '1', '--time-ms', '1', '--clients', '1'],
  ['ops', '--processes', '1,2', '--time-ms', '1', '--peers', 'none'],
  ['replicate', '--processes', '3', '--time-ms', '1', '--peers', 'none'],
  ['agreement', '--processes', '3', '--time-ms', '1', '--device', 'shm0'],
  ['collectives', '--collectives', 'allReduce,barrier', '--processes', '2', '--value-sizes', '64', '--cell-ms', '1'],
  ['arrays', '--elements', '1000', '--ranks', '2', '--threads', '1', '--time-ms', '1', '--peers', 'none'],
  ['scaling', '--nodes', '2,4'],
  ['structures', '--stores', 'aether,Map', '--processes', '1', '--value-sizes', '16', '--cell-ms', '1'],
  ...(whyNoMesi() === undefined
    ? [['dsm', '--ranks', '2', '--page-sizes', '4096', '--iterations', '10', '--cell-ms', '1', '--coherence', 'mesi']]
    : []),
]

describe('each benchmark', options, () => {
  it('holds a run of any benchmark against an earlier one, and draws its page', () => {
    const directory = mkdtempSync(join(tmpdir(), 'aether-bench-test-'))
    const [file, page] = [join(directory, 'rows.json'), join(directory, 'page.html')]
    try {
      for (const words of cheapRuns) {
        const name = words[0]!
        const first = aether('bench', ...words, '--json')
        assert.equal(first.status, 0, first.stderr)
        writeFileSync(file, first.stdout)
        const check = spawnSync(process.execPath, [join(root, 'scripts/check-bench.mjs'), file], { encoding: 'utf8' })
        assert.equal(check.status, 0, check.stderr)
        const second = aether('bench', ...words, '--compare', file, '--html', page)
        assert.equal(second.status, 0, second.stderr)
        assert.match(
          second.stdout,
          /\n {2}before: .* divided by that of the earlier run; below 1 is less than before\.\n/,
        )
        assert.match(second.stdout, /\d\.\d+x/, name)
        assert.doesNotMatch(second.stdout, /no such row/, name)
        const html = readFileSync(page, 'utf8')
        assert.match(html, /<h3>Compared with the earlier run<\/h3>/)
        // One for the earlier run, and at least one of its own.
        assert.ok([...html.matchAll(/<figure>/g)].length >= 2, name)
        assert.doesNotMatch(html, /NaN|undefined|Infinity|<script|https?:/, name)
      }
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  for (const [name, program] of [
    ['latency', 'peer-process.js'],
    ['bandwidth', 'peer-process.js'],
    ['messaging', 'messaging-peer.js'],
    ['rpc', 'rpc-server.js'],
    ['collectives', 'collectives-member.js'],
  ] as const)
    it(`ends soon, all of it, where a terminal interrupts all processes of bench ${name} at once`, async () => {
      const marked = new MarkedProcesses()
      const longest = name === 'collectives' ? '--cell-ms' : '--time-ms'
      const child = spawn(process.execPath, [main, 'bench', name, longest, '60000'], {
        // A group of its own, as a shell makes one.
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: marked.environment,
      })
      const said = text(child.stderr)
      const ended = once(child, 'exit')
      try {
        const hasStarted = (commands: readonly string[][]): boolean =>
          commands.some((words) => words.some((word) => word.endsWith(`/${program}`)))
        await marked.until(hasStarted, () => (child.exitCode === null ? undefined : `it ended with ${child.exitCode}`))
        // Until they spin.
        await sleep(1000)
        process.kill(-child.pid!, 'SIGINT')
        assert.deepEqual(await ended, [130, null])
        await marked.until((commands) => commands.length === 0)
        assert.doesNotMatch(await said, /Error|ended with/)
      } finally {
        if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL')
      }
    })

  it('leaves nothing in /dev/shm where libfabric is measured', async () => {
    const pids: number[] = []
    const note = (message: unknown): void => {
      const { process: child } = message as { process: ChildProcess }
      child.once('spawn', () => void pids.push(child.pid!))
    }
    subscribe('child_process', note)
    try {
      await benchLatency({ sizes: [8], timeMs: 1, peers: ['libfabric'] })
    } finally {
      unsubscribe('child_process', note)
    }
    assert.ok(pids.length > 0)
    // Its names begin with the process.
    const left = readdirSync('/dev/shm').filter((name) => pids.some((pid) => name.startsWith(`${pid}:`)))
    assert.deepEqual(left, [])
  })
})
