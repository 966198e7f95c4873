import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AgreementWorld,
  algorithms,
  graphAlgorithms,
  playSeed,
  playTimely,
  type WorldEvent,
} from '../../../../tools/agreement/index.ts'
import { layOut } from '../../../../tools/agreement/picture/space-time-layout.ts'

/** What a timely play of three processes does. */
function timelyEvents(name: string): WorldEvent[] {
  const algorithm = [...algorithms, ...graphAlgorithms].find((each) => each.name === name)!
  const events: WorldEvent[] = []
  const watch = (event: WorldEvent): number => events.push(event)
  const setting = { processes: 3, memories: 3 }
  playTimely(new AgreementWorld({ algorithm, setting, inputs: ['0', '1', '1'], watch }), 60, [{ process: 2, at: 3 }])
  return events
}

/** What is wrong with a layout: everything runs downwards, and what a lane is told never stands at one place. */
function faultOf(events: readonly WorldEvent[]): string | undefined {
  const { placed, bands, height } = layOut(events, 3)
  const told = new Map<number, number>()
  for (const { event, from, to } of placed) {
    const text = JSON.stringify(event)
    if ('sentAt' in event && from.y >= to.y) return `${text} runs from ${from.y} to ${to.y}`
    if (to.y > height) return `${text} is below the end`
    if (to.y <= (told.get(to.lane) ?? -1)) return `${text} hides what the lane was told before`
    told.set(to.lane, to.y)
    const band = bands.find(({ at }) => at === event.at)!
    if (to.y < band.top || to.y > band.end) return `${text} is outside of its time`
  }
  return bands.some((band, index) => index > 0 && band.top <= bands[index - 1]!.end) ? 'times overlap' : undefined
}

for (const { name } of [...algorithms, ...graphAlgorithms])
  test(`${name}: everything runs downwards, and nothing hides anything else of its lane`, () => {
    const events = timelyEvents(name)
    assert.ok(events.length >= 6)
    assert.equal(faultOf(events), undefined)
  })

test('where time stands still, the order of a seed is drawn one step below the other', () => {
  for (const algorithm of algorithms.filter(({ failures }) => failures === 'byzantine'))
    for (let seed = 1; seed <= 5; seed += 1) {
      const events: WorldEvent[] = []
      playSeed(algorithm, seed, { watch: (event) => events.push(event) })
      assert.equal(faultOf(events), undefined, `${algorithm.name}, seed ${seed}`)
      const { placed, bands } = layOut(events, 3)
      const still = placed.filter(({ event }) => event.at === 0)
      assert.equal(
        bands[0]!.isOrdered,
        still.some(({ event }) => 'sentAt' in event),
      )
      const steps = still.map(({ to }) => to.y)
      assert.deepEqual(
        steps,
        steps.toSorted((one, other) => one - other),
      )
    }
})

test('what a process sends leaves from where it was told the reason', () => {
  const { placed } = layOut(timelyEvents('protected-memory-paxos'), 3)
  const decision = placed.find(({ event }) => event.type === 'decide')!
  const messages = placed.filter(({ event }) => event.type === 'message' && event.from === 0)
  assert.ok(messages.length > 0)
  for (const { from } of messages) assert.deepEqual(from, decision.to)
})

test('in real time there are no steps: short pauses are drawn apart, and long ones are cut', () => {
  const message = (sentAt: number, at: number): WorldEvent => ({
    type: 'message',
    from: 0,
    to: 1,
    message: 'm',
    sentAt,
    at,
  })
  const events = [message(0.01, 0.012), message(0.011, 0.013), message(0.013, 90), message(90, 90)]
  const { placed, bands, height } = layOut(events, 2)
  assert.deepEqual(
    bands.map(({ at, cut }) => [at, cut > 0]),
    [
      [0.01, false],
      [0.011, false],
      [0.012, false],
      [0.013, false],
      [90, true],
    ],
  )
  assert.ok(height < 500)
  for (const { from, to } of placed.slice(0, 3)) assert.ok(from.y < to.y)
})
