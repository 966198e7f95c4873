import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startPlayer } from '../../src/testing/conformance/remote-player.ts'
import { CompletionBatch, CompletionStatus, openDevice, QueuePairState } from '../../src/verbs/index.ts'
import { ALL_ACCESS } from './loopback.ts'

/** A queue pair here, armed, and a bare one in another process that is in RTR towards it. */
async function scene() {
  const remote = startPlayer()
  const { player } = remote
  const device = openDevice('shm0')
  const domain = device.createProtectionDomain()
  const memory = domain.allocate(4096, ALL_ACCESS)
  const channel = device.createCompletionChannel()
  const queue = device.createCompletionQueue({ depth: 8, channel })
  const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
  await player.open('shm0')
  const theirDomain = await player.domain()
  const theirMemory = await player.allocate(theirDomain, 4096, ALL_ACCESS)
  const theirQueue = await player.queue(8)
  const theirs = await player.pair({ domain: theirDomain, sendQueue: theirQueue, receiveQueue: theirQueue })
  await player.modify(theirs.handle, { state: QueuePairState.Init, partitionKeyIndex: 0, port: 1, access: ALL_ACCESS })
  await player.modify(theirs.handle, {
    state: QueuePairState.ReadyToReceive,
    addressVector: { gid: pair.gid },
    pathMtu: 1024,
    destinationQueuePair: pair.number,
    receivePsn: pair.psn,
    maxDestinationReadAtomic: 1,
    minRnrTimer: 12,
  })
  pair.connect(theirs.endpoint)
  return { remote, player, device, memory, channel, queue, pair, theirs, theirMemory }
}

/** The status of the next completion, waited for on the channel alone: nobody polls meanwhile. */
async function statusByEvent({
  channel,
  queue,
}: Pick<Awaited<ReturnType<typeof scene>>, 'channel' | 'queue'>): Promise<number> {
  await channel.wait({ timeoutMs: 10_000 })
  const batch = new CompletionBatch(1)
  assert.equal(queue.poll(batch), 1)
  return batch.status[0]!
}

test('a sender that idles on its channel goes on when the receiver has posted a receive', async () => {
  const all = await scene()
  try {
    all.queue.arm()
    all.pair.prepareSend({ local: all.memory.subarray(0, 8) }).post(1)
    const local = [{ address: all.theirMemory.address, length: 64, key: all.theirMemory.localKey }]
    const status = statusByEvent(all)
    await all.player.receive(all.theirs.handle, { id: 1, local })
    assert.equal(await status, CompletionStatus.Success)
  } finally {
    all.device.close()
    await all.remote.stop()
  }
})

test("a sender that idles on its channel learns of its peer's death, though it would have waited for ever", async () => {
  const all = await scene()
  try {
    all.queue.arm()
    all.pair.prepareSend({ local: all.memory.subarray(0, 8) }).post(1)
    const status = statusByEvent(all)
    await all.remote.stop()
    assert.equal(await status, CompletionStatus.RetryExceeded)
  } finally {
    all.device.close()
  }
})
