import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MESSAGE_BYTES_MAX } from '../../../src/cluster/index.ts'
import { claimCodes, type RecoveryMessage } from '../../../src/dsm/coherence/index.ts'
import { decodeRecovery, ENTRIES_MAX, encodeRecovery } from '../../../src/dsm/coherent/recovery-channel.ts'

test('claims of any number come back as they were, in messages that the mesh takes, of which only the last says so', () => {
  const entry = fc.record(
    { page: fc.nat(2 ** 31 - 1), claim: fc.constantFrom(...claimCodes) },
    { noNullPrototype: true },
  )
  const lengths = fc.constantFrom(0, 1, ENTRIES_MAX, ENTRIES_MAX + 1, 3 * ENTRIES_MAX)
  const lists = lengths.chain((length) => fc.array(entry, { minLength: length, maxLength: length, size: 'max' }))
  fc.assert(
    fc.property(fc.nat(2 ** 31 - 1), fc.nat(65_535), lists, (region, epoch, entries) => {
      const messages = [...encodeRecovery(region, { kind: 'claims', epoch, entries, last: true })]
      const decoded = messages.map((bytes) => {
        assert.ok(bytes.length <= MESSAGE_BYTES_MAX)
        const received = decodeRecovery(bytes)
        assert.deepEqual([received?.region, received?.message.epoch], [region, epoch])
        return received?.message as RecoveryMessage & { kind: 'claims' }
      })
      assert.deepEqual(
        decoded.flatMap((message) => message.entries),
        entries,
      )
      assert.deepEqual(
        decoded.map(({ last }) => last),
        decoded.map((_, index) => index === decoded.length - 1),
      )
    }),
    { numRuns: 50 },
  )
})

test('pages that are held come back as they were, however many', () => {
  for (const length of [1, ENTRIES_MAX + 1]) {
    const pages = Array.from({ length }, (_, index) => 3 * index)
    const messages = [...encodeRecovery(3, { kind: 'held', epoch: 2, pages })]
    assert.ok(messages.every((bytes) => bytes.length <= MESSAGE_BYTES_MAX))
    const decoded = messages.map((bytes) => decodeRecovery(bytes)?.message as RecoveryMessage & { kind: 'held' })
    assert.deepEqual(
      decoded.flatMap((message) => message.pages),
      pages,
    )
  }
})

test('what cannot be a message of a recovery is none', () => {
  const [flush] = [...encodeRecovery(3, { kind: 'flush', epoch: 2 })] as [Uint8Array]
  assert.deepEqual(decodeRecovery(flush), { region: 3, message: { kind: 'flush', epoch: 2 } })
  const [claims] = [
    ...encodeRecovery(3, { kind: 'claims', epoch: 2, entries: [{ page: 1, claim: 'dirty' }], last: true }),
  ] as [Uint8Array]
  for (const [at, value] of [
    [1, 9],
    [16, 99],
    [15, 255],
  ] as const) {
    const wrong = claims.slice()
    wrong[at] = value
    assert.equal(decodeRecovery(wrong), undefined, `byte ${at}`)
  }
  assert.equal(decodeRecovery(claims.subarray(0, 13)), undefined)
  assert.equal(decodeRecovery(new Uint8Array(0)), undefined)
})
