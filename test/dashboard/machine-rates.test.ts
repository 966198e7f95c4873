import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MachineFrame } from '../../src/dashboard/index.ts'
import { MachineRates } from '../../src/dashboard/machine-rates.ts'
import { Profile } from '../../src/profiling/index.ts'

/** A member whose replicas of machines have these figures. */
function member(epoch: number, number: number, machines: Readonly<Record<string, Readonly<Record<string, number>>>>) {
  const counters = Object.entries(machines).map(([label, figures], at) => {
    const values = { entries: 0, applied: 0, term: 1, leads: 0, proposing: 0, ...figures }
    const gauges = Object.keys(values).slice(1)
    return {
      name: 'consensus',
      label,
      labelled: 'machine',
      spread: '',
      rest: false,
      thread: 0,
      serial: at + 1,
      gauges,
      values,
    }
  })
  return {
    epoch,
    number,
    profile: Profile.fromJSON({ version: 1, unplaced: 0, counters, histograms: [], findings: [] }),
  }
}

test('replicas are listed by machine and member, with how far each is behind, and entries a second', () => {
  const rates = new MachineRates()
  const failOver = { failOverCampaignNs: 1, failOverPromisedNs: 2, failOverCaughtUpNs: 3, failOverNs: 4 }
  const look = (atMs: number, ...more: readonly number[]) =>
    rates.next(
      [
        member(8, 1, { b: { entries: 100 + more[0]!, applied: 130 } }),
        member(7, 0, {
          b: { entries: 100 + more[1]!, applied: 142, leads: 1, term: 3, proposing: 2, ...failOver },
          a: { entries: 5, applied: 5 },
        }),
      ],
      atMs,
    )
  const first = look(10_000, 0, 0)
  const quiet = { term: 1, leads: false, behind: 0, rate: 0, proposing: 0, failOver: null }
  const stages = { campaignNs: 1, promisedNs: 2, caughtUpNs: 3, decidedNs: 4 }
  assert.deepEqual(first, [
    { ...quiet, name: 'a', number: 0, applied: 5 },
    { ...quiet, name: 'b', number: 0, applied: 142, leads: true, term: 3, proposing: 2, failOver: stages },
    { ...quiet, name: 'b', number: 1, applied: 130, behind: 12 },
  ])
  const ratesOf = (frames: readonly MachineFrame[]) => frames.map(({ rate }) => rate)
  const second = look(10_200, 40, 60)
  assert.deepEqual(ratesOf(second), [0, 300, 200], 'the second look comes at once')
  assert.equal(look(10_900, 1000, 1000), second, 'later ones once a second')
  assert.deepEqual(ratesOf(look(11_200, 40, 260)), [0, 200, 0])
  const replaced = rates.next([member(9, 0, { a: { entries: 900, applied: 905 } })], 12_200)
  assert.deepEqual(ratesOf(replaced), [0], 'another member of that number has no rate yet')
})
