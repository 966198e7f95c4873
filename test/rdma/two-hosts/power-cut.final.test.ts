import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertTruthful, Initiator, SUCCESS } from '../support/initiator.ts'
import { RemoteHost } from '../support/remote-host.ts'
import { rdmaResources } from '../support/resources.ts'
import { Target } from '../support/target.ts'

test('a machine without power is known to its peer in bounded time, and nothing is left in the kernel', async () => {
  const idle = rdmaResources()
  using remote = await RemoteHost.connect()
  await using target = await Target.start(remote)
  using initiator = new Initiator()
  const token = await target.connect(initiator)
  const write = (id: number): void =>
    initiator.pair.prepareWrite({ local: initiator.memory.subarray(0, 4096), remote: token }).post(id)
  write(0)
  assert.deepEqual(await initiator.completions(1), [{ id: 0, status: SUCCESS }])

  remote.cutPower()
  await sleep(2000)
  for (let id = 1; id <= 100; id++) write(id)
  const startedMs = Date.now()
  assert.equal(assertTruthful(await initiator.completions(100)), 0)
  console.log(`power cut: known after ${Date.now() - startedMs} ms`)
  initiator.device.close()
  assert.deepEqual(rdmaResources(), idle)
})
