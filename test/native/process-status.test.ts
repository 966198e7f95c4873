import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { describe, it } from 'node:test'
import { isEnding } from '../../src/native/index.ts'

describe('whether a process is ending', () => {
  it('says no of one that runs', () => {
    assert.equal(isEnding(process.pid), false)
  })

  it('says yes of one that has ended, from the moment its end is seen', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    await once(child, 'spawn')
    assert.equal(isEnding(child.pid!), false)
    child.kill('SIGKILL')
    await once(child, 'exit')
    assert.equal(isEnding(child.pid!), true)
  })
})
