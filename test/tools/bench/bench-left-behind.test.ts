/**
 * What is left of a benchmark that ends before it is done, wherever it is: no process, no directory, and nothing on
 * standard error.
 */
import assert from 'node:assert/strict'
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { libfabricProvider } from '../../../tools/bench/peers/fi-pingpong.ts'
import { optionalPackage } from '../../../tools/bench/peers/optional-package.ts'
import { ucxProvider } from '../../../tools/bench/peers/ucx-perftest.ts'
import { MarkedProcesses } from '../../support/marked-processes.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const bench = new URL('../../../tools/bench/', import.meta.url)

/** A program that ends when it is told to, and in that gives back what it has. */
function start(code: string, { environment }: MarkedProcesses) {
  const program = `process.on('SIGTERM', () => process.exit(1))\nvoid (async () => {\n${code}\n})()`
  const child = spawn(process.execPath, ['-e', program], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (said += part))
  return {
    child,
    ended: once(child, 'close'),
    said: () => said,
    whyNever: () => (child.exitCode === null ? undefined : `it ended with ${child.exitCode}: ${said}`),
  }
}

const load = (path: string): string => JSON.stringify(new URL(path, bench).href)
const notHere = (find: Promise<unknown>): Promise<string | undefined> =>
  find.then(
    () => undefined,
    (error: Error) => error.message,
  )

describe('programs of others', options, () => {
  for (const { program, isHere, code, trial } of [
    {
      program: 'fi_pingpong',
      isHere: libfabricProvider,
      code: `const { libfabricRow } = await import(${load('peers/fi-pingpong.js')}); await libfabricRow('send', 'libfabric', 8, 60_000)`,
      trial: ['-I', '100'],
    },
    {
      program: 'ucx_perftest',
      isHere: ucxProvider,
      code: `const { measureUcx } = await import(${load('peers/ucx-perftest.js')}); await measureUcx('tag_lat', 8, 60_000)`,
      trial: ['-n', '200'],
    },
  ])
    it(`${program} ends with the benchmark, both ends`, async (test) => {
      const why = await notHere(isHere())
      if (why !== undefined) return test.skip(why)
      const isMeasuring = (words: readonly string[]): boolean =>
        words[0] === program && words.includes('127.0.0.1') && words[words.indexOf(trial[0]!) + 1] !== trial[1]
      // UCX leaves its shared memory where it is ended while it begins.
      const directory = mkdtempSync(join(tmpdir(), 'aether-bench-test-'))
      try {
        // While they begin, and, with luck, while they talk.
        for (const pauseMs of [0, 300]) {
          const marked = new MarkedProcesses({ UCX_POSIX_DIR: directory })
          const { child, ended, whyNever } = start(code, marked)
          try {
            await marked.until((commands) => commands.some(isMeasuring), whyNever)
            await sleep(pauseMs)
            child.kill('SIGTERM')
            await ended
            await marked.until((commands) => commands.length === 0)
          } finally {
            child.kill('SIGKILL')
          }
        }
      } finally {
        rmSync(directory, { recursive: true })
      }
    })
})

describe('processes of aether bench structures', options, () => {
  it('make no directory again of a benchmark that ends while they start', async (test) => {
    const why = await notHere(optionalPackage('lmdb'))
    if (why !== undefined) return test.skip(why)
    const directory = mkdtempSync(join(tmpdir(), 'aether-bench-test-'))
    const marked = new MarkedProcesses({ TMPDIR: directory })
    try {
      const { child, ended, said } = start(
        `const [{ ScratchDirectory }, { Crew }] = await Promise.all([import(${load('scratch-directory.js')}), import(${load('structures/crew.js')})])
        const { path } = new ScratchDirectory()
        void Crew.start('lmdb', 4, { space: 'none', directory: path })
        setImmediate(() => process.exit(1))`,
        marked,
      )
      await ended
      await marked.until((commands) => commands.length === 0)
      assert.deepEqual([child.exitCode, said()], [1, ''])
      assert.deepEqual(readdirSync(directory), [])
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('end without a word where nobody is there any more', async () => {
    const script = fileURLToPath(new URL('structures/worker-process.js', bench))
    const meeting = { space: 'none', directory: tmpdir() }
    const child = fork(script, [JSON.stringify(['Map', meeting, 0])], {
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    // It has no event 'close' where it was disconnected.
    const ended = Promise.all([once(child, 'exit'), text(child.stdout!), text(child.stderr!)])
    child.disconnect()
    assert.deepEqual(await ended, [[0, null], '', ''])
  })
})
