import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import type { SnapshotHead } from '../../../src/consensus/replica/journal.ts'
import { SnapshotTransfer } from '../../../src/consensus/replica/snapshot-transfer.ts'
import type { ProtectionDomain } from '../../../src/verbs/index.ts'

const head = (index: number): SnapshotHead => ({
  index,
  term: 1024,
  configuration: { version: 1, voters: [], nextNumber: 1, log: 1 },
})

/** Regions of a domain, in the order in which they were allocated. */
interface Region {
  readonly bytes: Uint8Array
  isClosed: boolean
  copied: number
}

function transferOf(): { readonly transfer: SnapshotTransfer; readonly regions: Region[] } {
  const regions: Region[] = []
  const allocate = (length: number) => {
    const region = { bytes: new Uint8Array(length), isClosed: false, copied: 0, address: 4096n, remoteKey: 7 }
    const set = region.bytes.set.bind(region.bytes)
    region.bytes.set = (part: ArrayLike<number>, at?: number) => {
      region.copied += part.length
      set(part, at)
    }
    regions.push(region)
    return { ...region, close: () => (region.isClosed = true) }
  }
  return { transfer: new SnapshotTransfer({ allocate } as unknown as ProtectionDomain), regions }
}

const part = (value: number): Uint8Array => new Uint8Array(2 ** 20).fill(value)

test('a snapshot is made ready a part at a time, and offered when all of it is', () => {
  const { transfer, regions } = transferOf()
  for (let value = 1; value <= 5; value += 1) transfer.add(part(value), value === 1)
  const first = Uint8Array.of(9, 9)
  let steps = 0
  let parts: readonly Uint8Array[] | undefined
  for (let copied = 0; parts === undefined; copied = regions[0]!.copied) {
    assert.equal(transfer.offer, undefined)
    parts = transfer.offerParts(head(3), first)
    assert.ok(regions[0]!.copied - copied <= 2 ** 20 + 2)
    steps += 1
  }
  assert.equal(steps, 5)
  const whole = Buffer.concat([first, part(1), part(2), part(3), part(4), part(5)])
  assert.ok(Buffer.concat(parts).equals(whole))
  assert.ok(whole.equals(regions[0]!.bytes))
  const { index, lengthBytes, checksum } = transfer.offer!
  assert.deepEqual({ index, lengthBytes, checksum }, { index: 3, lengthBytes: whole.length, checksum: crc32(whole) })
})

test('what came of a snapshot that was given up is not in the next one', () => {
  const { transfer, regions } = transferOf()
  for (const value of [1, 2, 3]) transfer.add(part(value), value === 1)
  assert.equal(transfer.offerParts(head(1), Uint8Array.of(0)), undefined)
  transfer.add(part(4), true)
  assert.equal(regions[0]!.isClosed, true)
  const parts = transfer.offerParts(head(2), Uint8Array.of(8))!
  assert.ok(Buffer.concat(parts).equals(Buffer.concat([Uint8Array.of(8), part(4)])))
  assert.equal(transfer.offer!.index, 2)
})
