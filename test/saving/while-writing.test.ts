/** A save while four processes write: what never changes is all there, and every entry is whole. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { open } from '../../src/public/index.ts'
import { openStructures } from '../../src/public/structures.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()
const scratch = mkdtempSync(join(tmpdir(), 'aether-writing-'))
after(() => rmSync(scratch, { recursive: true }))
const writing = fileURLToPath(new URL('./fixtures/writing.js', import.meta.url))
const SAVES = 2

/** Of one writer, and as long as it was written. */
const isWhole = (text: unknown): boolean => typeof text === 'string' && /^(\d):(?:\1:)*$/.test(text)

test('it is a save of whole entries', async () => {
  const children = [0, 1, 2, 3].map((number) =>
    spawn(process.execPath, [writing, 'busy', String(number)], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const files: string[] = []
  try {
    await Promise.all(children.map((child) => once(child.stdout, 'data')))
    await using space = await open('busy')
    for (let save = 0; save < SAVES; save += 1) {
      files.push(join(scratch, `${save}`))
      await space.save({ file: files.at(-1)! })
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(children.map((child) => (child.exitCode ?? child.signalCode) === null && once(child, 'close')))
  }
  for (const file of files) {
    await using space = await open('busy', { save: { file } })
    await using shared = await openStructures(space)
    const map = await shared.map<string>('map')
    let kept = 0
    for (const [key, value] of map.entriesSync()) {
      const [, number] = /^kept \d (\d+)$/.exec(String(key)) ?? []
      if (number === undefined) assert.ok(isWhole(value), `${String(key)}: ${value}`)
      else {
        assert.equal(value, number.repeat(50))
        kept += 1
      }
    }
    assert.equal(kept, 1200)
    const queue = await shared.queue<string>('queue')
    const stack = await shared.stack<string>('stack')
    for (const list of [queue, stack])
      for (let text = list.tryPopSync(); text !== undefined; text = list.tryPopSync()) assert.ok(isWhole(text), text)
    const log = await shared.log<string>('log')
    for (const { value } of log.readSync(0)) assert.ok(isWhole(value))
  }
})
