import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openLogin, RUN_PATIENCE_MS, runOnHosts } from '../support/hosts-run.ts'
import { assertTruthful, Initiator, SUCCESS } from '../support/initiator.ts'
import type { Program } from '../support/program.ts'
import { RemoteHost } from '../support/remote-host.ts'
import { type Resources, rdmaResources } from '../support/resources.ts'
import { Target } from '../support/target.ts'

/** A group on both machines, which the power cut finds computing. */
let launched: Program
let host: RemoteHost
/** Before anything of this file runs. */
let idle: Resources

before(async () => {
  idle = rdmaResources()
  host = await RemoteHost.connect()
  await openLogin(host)
  const script = fileURLToPath(new URL('./fixtures/survivor.js', import.meta.url))
  launched = runOnHosts('run', '--on-failure', 'continue', script)
  await launched.until(/\[1\] computing/, RUN_PATIENCE_MS)
})
after(() => {
  launched[Symbol.dispose]()
  host[Symbol.dispose]()
})

test('a machine without power is known to its peer in bounded time, and nothing is left in the kernel', async () => {
  using remote = await RemoteHost.connect()
  await using target = await Target.start(remote)
  using initiator = new Initiator()
  const token = await target.connect(initiator)
  const write = (id: number): void =>
    initiator.pair.prepareWrite({ local: initiator.memory.subarray(0, 4096), remote: token }).post(id)
  write(0)
  assert.deepEqual(await initiator.completions(1), [{ id: 0, status: SUCCESS }])

  await remote.cutPower()
  for (let id = 1; id <= 100; id += 1) write(id)
  const startedMs = Date.now()
  assert.equal(assertTruthful(await initiator.completions(100)), 0)
  console.log(`power cut: known after ${Date.now() - startedMs} ms`)
  initiator.device.close()
  await launched.finished(RUN_PATIENCE_MS)
  assert.deepEqual(rdmaResources(), idle)
})

test('a group of which that machine was part is told by the launcher and by the rank that is left, in bounded time', async () => {
  const { status, output } = await launched.finished(RUN_PATIENCE_MS)
  assert.match(output, /aether: rank 1 \(process \d+ on there\) is lost: nothing was heard from it for 20 s/)
  assert.match(output, /\[0\] rank 1 died: \S/)
  assert.match(output, /\[0\] barrier: ERR_AETHER_MEMBER_ENDED/)
  assert.match(output, /\[0\] page: ERR_AETHER_PAGE_LOST/)
  assert.equal(status, 255, output)
})
