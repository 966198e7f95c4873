/** Workers that are killed all the time, one by one and all at once: no job that was added is lost. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { open } from '../../../src/public/index.ts'
import { openStructures } from '../../../src/public/structures.ts'
import { useRuntimeDirectory } from '../../cluster/support.ts'

/** How often all are killed; AETHER_TEST_KILLS=500 makes a soak of it. */
const KILLS = Math.max(2, Math.floor(Number(process.env['AETHER_TEST_KILLS'] ?? 6) / 3))
const NAME = 'laboring'
const WORKERS = 3

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-jobs-')))
after(() => rmSync(scratch, { recursive: true }))
const laboring = fileURLToPath(new URL('./fixtures/laboring.js', import.meta.url))
const directory = join(scratch, 'space')
const file = join(scratch, 'lines')

function start(): ChildProcess {
  return spawn(process.execPath, [laboring, NAME, directory, file], { stdio: ['ignore', 'ignore', 'inherit'] })
}

async function kill(child: ChildProcess): Promise<void> {
  assert.equal(child.exitCode, null, 'a worker has ended by itself: see what it wrote')
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

function linesOf(verb: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line.startsWith(`${verb} `)).map((line) => line.slice(verb.length + 1))
}

async function until(progress: number): Promise<void> {
  for (let looks = 0; ; looks += 1) {
    assert.ok(looks < 6000, 'the workers make progress')
    try {
      if (linesOf('done').length >= progress) return
    } catch {
      // No worker has begun.
    }
    await sleep(10)
  }
}

test(`every job that was added is worked on, though all ${WORKERS} workers are killed ${KILLS} times`, async () => {
  for (let round = 0, done = 0; round < KILLS; round += 1) {
    const workers = Array.from({ length: WORKERS }, start)
    await until(done + 100)
    await kill(workers.shift()!)
    workers.push(start())
    await until(linesOf('done').length + 200)
    await Promise.all(workers.map(kill))
    done = linesOf('done').length
  }
  await using space = await open(NAME, { directory })
  await using structures = await openStructures(space)
  const jobs = await structures.jobs<number>('jobs')
  const left: string[] = []
  while ((await jobs.list({ limit: 1 })).length > 0) {
    const job = await jobs.take({ signal: AbortSignal.timeout(20_000) }).catch(async (error) => {
      throw new Error(`left: ${JSON.stringify(await jobs.list({ limit: 3 }))}`, { cause: error })
    })
    left.push(job.id)
    await job.complete()
  }
  const done = new Set([...linesOf('done'), ...left])
  const lost = linesOf('added').filter((id) => !done.has(id))
  assert.deepEqual(lost, [])
  assert.ok(done.size > 300 * KILLS, `${done.size} jobs`)
  // Every access to the queue works as in a new one.
  assert.deepEqual(await jobs.counts(), { waiting: 0, delayed: 0, active: 0, completed: 0, failed: 0 })
  structures.recover()
  const { usedBytes } = structures.usage()
  assert.ok(usedBytes < 200_000, `${usedBytes} bytes are left`)
})
