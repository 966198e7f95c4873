import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import {
  Access,
  CompletionStatus,
  type MemoryRegion,
  openDevice,
  type QueuePair,
  type RegionToken,
  type RemoteEndpoint,
} from '../../src/verbs/index.ts'

const BYTES = 1 << 22
const CHUNK_BYTES = 1 << 12
const ROUNDS = 8
const PATIENCE_MS = 10_000

/** Ways to hand out a key to memory, and to take it back. */
interface Way {
  readonly name: string
  give(pair: QueuePair, memory: MemoryRegion): { readonly token: RegionToken; readonly takeBack: () => void }
}

const READ_WRITE = Access.LocalWrite | Access.RemoteWrite

/** Spin until the Worker has written all of it once. The bound is for a Worker that failed. */
function untilWritten(bytes: Uint8Array): void {
  const deadline = performance.now() + PATIENCE_MS
  while (Atomics.load(bytes, BYTES / 2 - 1) === 0 || Atomics.load(bytes, BYTES - 1) === 0)
    assert.ok(performance.now() < deadline, 'the Worker writes nothing')
}

/** Against the direction of a copy: one that still goes on would only be followed by a fill from the start. */
function clearFromTheEnd(bytes: Uint8Array): void {
  for (let end = bytes.length; end > 0; end -= CHUNK_BYTES) bytes.fill(0, end - CHUNK_BYTES, end)
}

const ways: readonly Way[] = [
  {
    name: 'LOCAL_INV of a window',
    give: (pair, memory) => {
      const window = pair.domain.createMemoryWindow(2)
      const bind = pair.prepareBind({ window, memory, access: Access.RemoteWrite })
      pair.bindSync({ window, memory, access: Access.RemoteWrite })
      const takeBack = (): void => {
        pair.localInvalidateSync(window.remoteKey)
        window.close()
      }
      return { token: bind.token, takeBack }
    },
  },
  {
    name: 'a bind of length zero',
    give: (pair, memory) => {
      const window = pair.domain.createMemoryWindow(1)
      pair.bindSync({ window, memory, access: Access.RemoteWrite })
      const token = { ...memory.token, key: window.remoteKey }
      const takeBack = (): void => {
        pair.bindSync({ window })
        window.close()
      }
      return { token, takeBack }
    },
  },
  {
    name: 'closing a window',
    give: (pair, memory) => {
      const window = pair.domain.createMemoryWindow(1)
      pair.bindSync({ window, memory, access: Access.RemoteWrite })
      return { token: { ...memory.token, key: window.remoteKey }, takeBack: () => window.close() }
    },
  },
  {
    name: 'LOCAL_INV of an indirect key',
    give: (pair, memory) => {
      const key = pair.domain.createIndirectKey({ maxPieces: 2 })
      const half = BYTES / 2
      const pieces = [memory.subarray(half), memory.subarray(0, half)]
      pair.configureKeySync(key, { access: READ_WRITE, pieces })
      const takeBack = (): void => {
        pair.localInvalidateSync(key.remoteKey)
        key.close()
      }
      return { token: { address: 0, length: BYTES, key: key.remoteKey }, takeBack }
    },
  },
  {
    name: 'reregistration',
    give: (_, memory) => {
      const access = READ_WRITE | Access.MemoryWindowBind
      memory.reregister({ access })
      return { token: memory.token, takeBack: () => memory.reregister({ access: access & ~Access.RemoteWrite }) }
    },
  },
]

for (const { name, give } of ways) {
  test(`after ${name} nobody writes any more, though a peer was in the middle of it`, async () => {
    using device = openDevice('shm0')
    const domain = device.createProtectionDomain()
    const memory = domain.allocate(BYTES, READ_WRITE | Access.MemoryWindowBind)
    const queue = device.createCompletionQueue({ depth: 64 })
    const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
    const worker = new Worker(new URL('./fixtures/hammer.js', import.meta.url))
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        worker.postMessage(pair.endpoint)
        const [remote] = (await once(worker, 'message')) as [RemoteEndpoint]
        pair.toReset()
        pair.connect(remote)
        const { token, takeBack } = give(pair, memory)
        const answered = once(worker, 'message')
        worker.postMessage(token)
        untilWritten(memory.bytes)
        takeBack()
        clearFromTheEnd(memory.bytes)
        assert.deepEqual(await answered, [CompletionStatus.RemoteAccessError])
        assert.equal(memory.bytes.indexOf(1), -1, `round ${round}`)
      }
    } finally {
      await worker.terminate()
    }
  })
}
