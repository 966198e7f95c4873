import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openLogin, RUN_PATIENCE_MS, runOnHosts } from '../support/hosts-run.ts'
import type { ProgramEnd } from '../support/program.ts'
import { RemoteHost } from '../support/remote-host.ts'

const RANKS = 2
const VALUES = 16

let remote: RemoteHost

before(async () => {
  remote = await RemoteHost.connect()
})
after(() => remote[Symbol.dispose]())

test('two hosts push to queues and stacks of both over RDMA: every value is taken once, and out of a queue in the order of who pushed it', async () => {
  await openLogin(remote)
  const script = fileURLToPath(new URL('./fixtures/lists.js', import.meta.url))
  using launched = runOnHosts('run', script)
  const { status, output }: ProgramEnd = await launched.finished(RUN_PATIENCE_MS)
  assert.equal(status, 0, output)
  const taken = [...output.matchAll(/\[\d\] taken (.*)/g)].map(([, json]) => JSON.parse(json!))
  assert.equal(taken.length, RANKS, output)
  assert.equal(output.match(/device rxe0/g)?.length, RANKS, output)
  const [here, there] = taken as [Record<string, number[]>, Record<string, number[]>]
  const lists = Object.keys(here)
  assert.equal(lists.length, 8)
  for (const home of [0, 1])
    assert.ok(
      lists.some((list) => list.endsWith(`of ${home}`)),
      `none at rank ${home}`,
    )
  const pushed = Array.from({ length: RANKS * VALUES }, (_, at) => 1000 * Math.floor(at / VALUES) + (at % VALUES))
  for (const list of lists) {
    const values = [here[list], there[list]] as [number[], number[]]
    assert.deepEqual(
      values.flat().sort((a, b) => a - b),
      pushed,
      list,
    )
    if (list.startsWith('queue'))
      for (const one of values)
        for (const of of [0, 1]) {
          const own = one.filter((value) => Math.floor(value / 1000) === of)
          assert.deepEqual(
            own,
            own.toSorted((a, b) => a - b),
            list,
          )
        }
    // Both take what the other pushed.
    console.log(
      `${list}: ${values.map((one, rank) => one.filter((value) => Math.floor(value / 1000) !== rank).length)} came from the other host`,
    )
  }
})
