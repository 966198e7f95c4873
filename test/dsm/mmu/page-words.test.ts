import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CoherenceCodec } from '../../../src/dsm/coherent/coherence-channel.ts'
import { DemandRing } from '../../../src/dsm/coherent/demand-ring.ts'
import type { MessageKind } from '../../../src/dsm/index.ts'
import { PageRight, PageWords, PinResult } from '../../../src/dsm/mmu/page-words.ts'
import { WindowTable } from '../../../src/dsm/mmu/window-table.ts'

test('no page is taken from under a pin, and the last to let go of a wanted page rings', () => {
  const step = fc.constantFrom('pinRead', 'pinWrite', 'unpin', 'want', 'grantRead', 'grantWrite', 'take')
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const words = new PageWords(2)
      let [pins, right, wanted] = [0, PageRight.None as number, false]
      for (const what of steps) {
        if (what === 'pinRead' || what === 'pinWrite') {
          const needed = what === 'pinRead' ? PageRight.Read : PageRight.Write
          const expected = right >= needed && !wanted ? PinResult.Pinned : PinResult.NotHere
          assert.equal(words.tryPin(1, needed), expected)
          if (expected === PinResult.Pinned) pins += 1
        } else if (what === 'unpin' && pins > 0) {
          pins -= 1
          assert.equal(words.unpin(1), pins === 0 && wanted)
        } else if (what === 'want') {
          wanted = true
          assert.equal(words.want(1), pins === 0)
        } else if (what === 'take' && wanted && pins === 0) {
          words.take(1, PageRight.None)
          ;[right, wanted] = [PageRight.None, false]
        } else if (what === 'grantRead' || what === 'grantWrite') {
          right = what === 'grantRead' ? PageRight.Read : PageRight.Write
          words.grant(1, right)
          wanted = false
        }
        assert.equal(words.right(1), right)
        assert.equal(words.right(0), PageRight.None)
      }
    }),
  )
})

test('pins are counted up to the last that fits, and never below none', () => {
  const words = new PageWords(1)
  words.grant(0, PageRight.Read)
  assert.throws(() => words.unpin(0), { code: 'ERR_AETHER_DEFECT', message: /page 0 .* more often/ })
  const full = new PageWords(1)
  full.grant(0, PageRight.Read)
  full.array[0]! += 2 ** 31 - 2 ** 8
  assert.throws(() => full.tryPin(0, PageRight.Read), { code: 'ERR_AETHER_DEFECT', message: /page 0 .* as many/ })
  assert.equal(full.isPinned(0), true)
})

test('a page that failed is not pinned until it is forgiven', () => {
  const words = new PageWords(1)
  words.fail(0)
  assert.equal(words.tryPin(0, PageRight.Read), PinResult.Failed)
  assert.equal(words.announceWait(0, PageRight.Read), undefined)
  words.forgive(0)
  assert.equal(words.tryPin(0, PageRight.Read), PinResult.NotHere)
})

test('a grant to one who waits is fresh until it has pinned; one to nobody is not', async () => {
  const words = new PageWords(1)
  words.grant(0, PageRight.Read)
  assert.equal(words.isFresh(0), false)
  words.take(0, PageRight.None)
  const seen = words.announceWait(0, PageRight.Write)
  assert.ok(seen !== undefined)
  const waiting = words.wait(0, seen, 20_000)
  words.grant(0, PageRight.Write)
  assert.equal(await waiting, true)
  assert.equal(words.isFresh(0), true)
  words.tryPin(0, PageRight.Read)
  assert.equal(words.isFresh(0), false)
  words.unpin(0)
  assert.equal(words.announceWait(0, PageRight.Write), undefined)
  assert.equal(words.waitSync(0, 12345, 0), true)
})

test('the ring of demands gives back what was put in, in order, across its wrap-around and that of its counters', () => {
  const ring = new DemandRing()
  const counters = new Int32Array(ring.buffer)
  counters[0] = counters[16] = 2 ** 31 - 700
  const seen: number[] = []
  let pushed = 0
  for (let round = 0; round < 5; round += 1) {
    while (ring.tryPush(round, pushed, pushed % 3 === 0)) pushed += 1
    assert.equal(
      ring.drain((_region, page, write) => seen.push(write === (page % 3 === 0) ? page : -1)),
      1024,
    )
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 5 * 1024 }, (_, index) => index),
  )
  assert.equal(
    ring.drain(() => assert.fail()),
    0,
  )
})

test('a window is known to the other side as it was added; what is cleared is remembered apart', () => {
  const ours = new WindowTable()
  const theirs = new WindowTable(ours.buffer)
  const place = (index: number): { address: number; offsetBytes: number; lengthBytes: number } => ({
    address: 2 ** 46 + index * 65536,
    offsetBytes: 4096 * index,
    lengthBytes: 65536,
  })
  let count = 0
  while (ours.tryAdd(place(count))) {
    count += 1
    if (count % 100 === 0) assert.equal(theirs.windows().length, count)
  }
  assert.deepEqual(theirs.windows().at(-1), place(count - 1))
  theirs.clear()
  assert.deepEqual([theirs.windows().length, theirs.cleared().length], [0, count])
  assert.ok(ours.tryAdd(place(7)))
  assert.deepEqual(theirs.windows(), [place(7)])
})

test('a coherence message comes back as it was; what has another length is none', () => {
  const frame = fc.record({ address: fc.maxSafeNat(), key: fc.nat(0xffff_ffff) }, { noNullPrototype: true })
  const message = fc.record(
    {
      kind: fc.integer({ min: 1, max: 16 }).map((kind) => kind as MessageKind),
      page: fc.nat(2 ** 31 - 1),
      from: fc.nat(1000),
      requester: fc.integer({ min: -1, max: 1000 }),
      count: fc.integer({ min: -1, max: 1000 }),
      requesterFrame: frame,
      homeFrame: frame,
    },
    { noNullPrototype: true },
  )
  const [sender, receiver] = [new CoherenceCodec(), new CoherenceCodec()]
  fc.assert(
    fc.property(fc.nat(2 ** 31 - 1), fc.nat(2 ** 16 - 1), message, (region, epoch, sent) => {
      assert.deepEqual(receiver.decode(sent.from, sender.encode(region, sent, epoch)), { region, epoch, message: sent })
    }),
  )
  for (const length of [0, 1, 47, 49]) assert.equal(receiver.decode(0, new Uint8Array(length)), undefined)
})
