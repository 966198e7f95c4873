import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CARD_BYTES_MAX, Card } from '../../src/cluster/card.ts'
import { CARDS_OFFSET, CONTROL_BYTES } from '../../src/cluster/layout.ts'

const control = new ArrayBuffer(CONTROL_BYTES)

function cardOf(slot: number): { readonly card: Card; readonly sequence: Int32Array } {
  const sequence = new Int32Array(1)
  return { card: new Card(control, slot, sequence), sequence }
}

test('a card that was never written is none, and an empty one is one', () => {
  const { card } = cardOf(0)
  assert.equal(card.read(), undefined)
  card.write(new Uint8Array(0))
  assert.deepEqual(card.read(), new Uint8Array(0))
})

test('a card is replaced as a whole, shorter or longer', () => {
  const { card } = cardOf(1)
  for (const length of [CARD_BYTES_MAX, 3, 100, 0, CARD_BYTES_MAX]) {
    const bytes = new Uint8Array(length).fill(length)
    card.write(bytes)
    assert.deepEqual(card.read(), bytes)
  }
})

test('a card longer than it may be is refused and the old one stays', () => {
  const { card } = cardOf(2)
  card.write(Uint8Array.of(1))
  assert.throws(() => card.write(new Uint8Array(CARD_BYTES_MAX + 1)), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  assert.deepEqual(card.read(), Uint8Array.of(1))
})

test('a writer killed in the middle of writing leaves the card before it', () => {
  const { card } = cardOf(3)
  card.write(Uint8Array.of(1, 2, 3))
  // The sequence is odd now, so the next write goes to half 0: as far as a killed writer came, without the raise of the
  // sequence.
  new Uint8Array(control, CARDS_OFFSET + 3 * 8192, 4096).fill(0xee)
  assert.deepEqual(card.read(), Uint8Array.of(1, 2, 3))
})

test('a length that cannot be is not believed', () => {
  const { card } = cardOf(4)
  card.write(Uint8Array.of(9))
  new Int32Array(control, CARDS_OFFSET + 4 * 8192 + 4096, 1)[0] = 0x7fffffff
  assert.equal(card.read()?.length, CARD_BYTES_MAX)
})

test('cards of neighbours do not touch', () => {
  const a = cardOf(5).card
  const b = cardOf(6).card
  a.write(new Uint8Array(CARD_BYTES_MAX).fill(1))
  b.write(new Uint8Array(CARD_BYTES_MAX).fill(2))
  a.write(new Uint8Array(CARD_BYTES_MAX).fill(3))
  assert.ok(b.read()?.every((byte) => byte === 2))
})
