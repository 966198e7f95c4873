/** After a right was taken back, nothing lands: the evidence for the capability `permissions`. */
import { strict as assert } from 'node:assert'
import process from 'node:process'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CompletionStatus, type MemoryRegion } from '../../../src/verbs/index.ts'
import { RankProcess } from '../../support/rank-process.ts'
import { ALL_ACCESS } from '../../verbs/loopback.ts'
import { failureOf, fixture, Survivor } from './survivor.ts'

const LENGTH = 8 << 20
const WRITES = 40
const ROUNDS = Number(process.env['AETHER_TEST_KILLS'] ?? 2)

const writer = new RankProcess(fixture, {})
after(() => writer.kill())

const nothing = Buffer.alloc(LENGTH)

interface Revocation {
  readonly revoke: (memory: MemoryRegion, survivor: Survivor) => void
  /** How the writer hears of it. */
  readonly status: number
}

const { RemoteAccessError, RetryExceeded } = CompletionStatus
const revocations: Readonly<Record<string, Revocation>> = {
  'the region is closed': { revoke: (memory) => memory.close(), status: RemoteAccessError },
  'the region loses its rights': { revoke: (memory) => memory.reregister({ access: 0 }), status: RemoteAccessError },
  'the queue pair is moved to ERR': { revoke: (_, survivor) => survivor.pair.toError(), status: RetryExceeded },
  'the queue pair is closed': { revoke: (_, survivor) => survivor.pair.close(), status: RetryExceeded },
}

for (const [what, { revoke, status }] of Object.entries(revocations)) {
  test(`nothing lands after ${what}, whether the writer runs or is stopped in the middle and goes on`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      using survivor = new Survivor(4096)
      const buffer = new SharedArrayBuffer(LENGTH)
      const memory = survivor.domain.register(buffer, ALL_ACCESS)
      const bytes = new Uint8Array(buffer)
      const { token } = memory
      const [other] = await survivor.meet(LENGTH, {}, writer)
      await other.call('fill', 0x55)
      await other.call('postWrites', token, WRITES)
      while (bytes[0] === 0) await sleep(0)
      const stops = round % 2 === 0
      if (stops) await other.stop()
      revoke(memory, survivor)
      bytes.fill(0)
      if (stops) other.child.kill('SIGCONT')
      assert.equal(failureOf(await other.call<number[]>('reap', WRITES)), status)
      assert.equal(Buffer.compare(nothing, bytes), 0)
    }
  })
}
