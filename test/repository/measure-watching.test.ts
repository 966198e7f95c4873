/** scripts/measure-watching.mjs gives back what it takes of the machine, also when it is interrupted. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { MarkedProcesses } from '../support/marked-processes.ts'
import { root } from './checkout.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }

test('a measurement of watching that is interrupted leaves no process and no directory', options, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'aether-watching-test-'))
  const marked = new MarkedProcesses({ TMPDIR: directory })
  const child = spawn(
    process.execPath,
    [join(root, 'scripts/measure-watching.mjs'), '--awake', '--ms', '50', '--plays', '1'],
    {
      env: marked.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  const ended = once(child, 'close')
  try {
    await marked.until(
      (commands) => commands.some((words) => words.includes('dashboard')),
      () => (child.exitCode === null ? undefined : `it ended with ${child.exitCode}: ${said}`),
    )
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [1, null], said)
    await marked.until((commands) => commands.length === 0)
    assert.deepEqual(readdirSync(directory), [])
  } finally {
    child.kill('SIGKILL')
    rmSync(directory, { recursive: true })
  }
})
