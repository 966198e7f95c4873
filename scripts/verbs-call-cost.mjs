/**
 * What the package costs above libibverbs, in nanoseconds of processor time:
 * `node scripts/verbs-call-cost.mjs [--window N] [--turns N] [--rounds N] [--json]`.
 *
 * The library is a stand-in that does nearly nothing (test/native/verbs-stand-in/), so that what is measured is what
 * stands above it: a C loop that calls it directly, and the package. No RDMA and no other machine is needed, only a C++
 * compiler and libibverbs-dev. The best of `--rounds` runs counts of either: what else the machine does can only make
 * one slower.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values: options } = parseArgs({
  options: {
    window: { type: 'string', default: '32' },
    turns: { type: 'string', default: '640000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
})

const source = (path) => fileURLToPath(new URL(path, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'aether-call-cost-'))
const compiler = process.env.CXX ?? 'c++'

const rows = [
  ['post', 'a post'],
  ['listed', `a post, in a list of ${options.window}`],
  ['empty', 'a poll that finds nothing'],
  ['write', 'a WRITE: one post, one poll'],
  ['batched', `a WRITE: lists of ${options.window}, one poll a list`],
]

function compile() {
  const library = join(folder, 'libibverbs.so.1')
  const shared = ['-shared', '-fPIC', '-fvisibility=hidden', '-DAETHER_STAND_IN_SILENT', '-Wl,-soname,libibverbs.so.1']
  execFileSync(compiler, [
    ...['-std=c++17', '-O2', ...shared],
    ...[source('../test/native/verbs-stand-in/mlx5-stand-in.cc'), '-o', library],
  ])
  execFileSync(compiler, ['-std=c++17', '-O2', source('verbs-call-cost/loop.cc'), library, '-o', join(folder, 'loop')])
}

function run(command, words) {
  const { status, stdout, stderr } = spawnSync(command, [...words, options.window, options.turns], {
    encoding: 'utf8',
    env: { ...process.env, LD_LIBRARY_PATH: folder },
  })
  if (status !== 0) throw new Error(`${command} ended with ${status}:\n${stderr}`)
  return JSON.parse(stdout)
}

const best = (runs, name) => Math.min(...runs.map((each) => each[name]))

try {
  compile()
  const rounds = Array.from({ length: Number(options.rounds) }, () => ({
    theirs: run(join(folder, 'loop'), []),
    ours: run(process.execPath, [source('verbs-call-cost/ours.mjs')]),
  }))
  const results = rows.map(([name, what]) => {
    const theirs = best(
      rounds.map((round) => round.theirs),
      name,
    )
    const ours = best(
      rounds.map((round) => round.ours),
      name,
    )
    return { name, what, cNs: theirs, aetherNs: ours, addedNs: ours - theirs, ratio: ours / theirs }
  })
  if (options.json) console.log(JSON.stringify(results, undefined, 2))
  else {
    console.log(`${'ns'.padEnd(44)} ${['C', 'aether', 'added', 'ratio'].map((name) => name.padStart(8)).join('')}`)
    for (const { what, cNs, aetherNs, addedNs, ratio } of results)
      console.log(
        `${what.padEnd(44)} ${[cNs, aetherNs, addedNs, ratio].map((value) => value.toFixed(1).padStart(8)).join('')}`,
      )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
