import assert from 'node:assert/strict'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { withAdvice } from '../../src/cli/advice-report.ts'

test('a bad file hides neither what the run came to nor leaves anything behind', async () => {
  let directory = ''
  const run = async (): Promise<never> => {
    directory = process.env['AETHER_ADVISE_DIRECTORY']!
    writeFileSync(join(directory, '1.0.json'), '{"region":')
    throw new Error('what the run came to')
  }
  await assert.rejects(withAdvice(run), /what the run came to/)
  assert.equal(existsSync(directory), false)
  assert.equal(process.env['AETHER_ADVISE_DIRECTORY'], undefined)
})

test('nor does a directory that is gone', async () => {
  const run = async (): Promise<number> => {
    rmSync(process.env['AETHER_ADVISE_DIRECTORY']!, { recursive: true })
    return 7
  }
  assert.equal(await withAdvice(run), 7)
})
