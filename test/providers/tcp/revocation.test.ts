/** After a right was taken back, nothing lands: the evidence for the capability `permissions`. */
import { strict as assert } from 'node:assert'
import process from 'node:process'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MemoryRegion } from '../../../src/verbs/index.ts'
import { ALL_ACCESS } from '../../verbs/loopback.ts'
import { RankProcess } from '../../support/rank-process.ts'
import { fixture, Survivor } from './survivor.ts'

const LENGTH = 8 << 20
const WRITES = 40
const ROUNDS = Number(process.env['AETHER_TEST_KILLS'] ?? 2)

const writer = new RankProcess(fixture, {})
after(() => writer.kill())

const nothing = Buffer.alloc(LENGTH)

const revocations: Readonly<Record<string, (memory: MemoryRegion, survivor: Survivor) => void>> = {
  'the region is closed': (memory) => memory.close(),
  'the region loses its rights': (memory) => memory.reregister({ access: 0 }),
  'the queue pair is moved to ERR': (_, survivor) => survivor.pair.toError(),
  'the queue pair is closed': (_, survivor) => survivor.pair.close(),
}

for (const [what, revoke] of Object.entries(revocations)) {
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
      const statuses = await other.call<number[]>('reap', WRITES)
      assert.ok(statuses.some((status) => status !== 0), 'the writer was still writing')
      assert.equal(Buffer.compare(nothing, bytes), 0)
    }
  })
}
