/** Structures between machines, as far as programs can tell: what clients saw of them has an order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Machines } from '../../support/machines.ts'
import { RankProcess } from '../../support/rank-process.ts'
import { Histories } from './histories.ts'
import { fixture } from './opened-ranks.ts'

const RANKS = 3
const CALLS = 150
const KEYS = 4

test('what ranks on three machines see of maps, counters and logs has an order', {
  skip: Machines.reasonAgainst(),
}, async () => {
  using machines = new Machines(RANKS)
  const ranks: RankProcess[] = []
  try {
    for (let rank = 0; rank < RANKS; rank += 1) {
      const { environment, under } = await machines.place(rank)
      const meeting = {
        ...{ AETHER_RANK: `${rank}`, AETHER_SIZE: `${RANKS}`, AETHER_SECRET_FILE: machines.secretFile },
        AETHER_RENDEZVOUS: `tcp:${machines.networks.addresses[0]}:7000`,
      }
      ranks.push(new RankProcess(fixture, { ...environment, ...meeting }, under))
    }
    await Promise.all(ranks.map((each) => each.call('open')))
    const histories = new Histories(() => 0)
    const told = await Promise.all(
      ranks.map((each, rank) => each.call<Histories['told']>('play', rank + 1, CALLS, KEYS)),
    )
    for (const calls of told) histories.take(calls)
    assert.ok(histories.length > RANKS * 5 * CALLS, `${histories.length} calls`)
    histories.check('three machines')
    await Promise.all(ranks.map((each) => each.call('close')))
  } finally {
    await Promise.all(ranks.map((each) => each.kill()))
  }
})
