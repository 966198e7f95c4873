import assert from 'node:assert/strict'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { SocketCluster } from './socket-cluster.ts'
import { Program, SERVERS, steps } from './socket-program.ts'

useRuntimeDirectory()

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const RUNS = Number(process.env['AETHER_TEST_SOCKET_RUNS'] ?? 8)

describe("The same program on this adapter and on Socket.IO's own cluster adapter", options, () => {
  let both: Awaited<ReturnType<typeof SocketCluster.both>>
  let runs = 0
  before(async () => {
    both = await SocketCluster.both(SERVERS)
  })
  after(() => both[Symbol.asyncDispose]())

  it('has the same results and reaches the same clients', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (program) => {
        runs += 1
        const namespace = `/dynamic-${runs}`
        const [ours, theirs] = [new Program(both.ours, namespace), new Program(both.theirs, namespace)]
        assert.deepEqual(await ours.run(program), await theirs.run(program))
      }),
      { numRuns: RUNS },
    )
  })
})
