import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agreedText, CARD_VERSION, isCard } from '../../../../src/structures/distributed/messages/card.ts'

const card = {
  version: CARD_VERSION,
  agreed: 'size 1, all homes',
  endpoint: { gid: '12', queuePairNumber: 1, psn: 2, initiatorDepth: 3 },
  memory: { address: 4096, key: 7 },
}

test('a card is what another rank says, and nothing else', () => {
  assert.equal(isCard(JSON.parse(JSON.stringify(card))), true)
  const { endpoint, memory } = card
  for (const wrong of [
    null,
    undefined,
    'card',
    {},
    { ...card, version: CARD_VERSION + 1 },
    { ...card, agreed: 1 },
    { ...card, endpoint: null },
    { ...card, endpoint: { ...endpoint, gid: 12 } },
    { ...card, endpoint: { ...endpoint, gid: '12x' } },
    { ...card, endpoint: { ...endpoint, psn: -1 } },
    { ...card, endpoint: { ...endpoint, initiatorDepth: '3' } },
    { ...card, memory: { ...memory, address: 0.5 } },
    { ...card, memory: { address: 1 } },
  ])
    assert.equal(isCard(wrong), false, JSON.stringify(wrong))
})

test('what has to agree is told apart, and stays short however many ranks there are', () => {
  const ranks = Array.from({ length: 1000 }, (_, rank) => rank)
  const texts = [ranks, ranks.slice(1), ranks.slice(0, 999), [0], [1], [0, 1]].map((homes) =>
    agreedText(1, homes, 1000),
  )
  assert.equal(new Set(texts).size, texts.length)
  assert.notEqual(agreedText(1, [0], 2), agreedText(2, [0], 2))
  for (const text of texts) assert.ok(text.length < 500, text)
})
