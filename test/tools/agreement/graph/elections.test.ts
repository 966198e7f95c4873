import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ElectionPlay } from '../../../../tools/agreement/graph/election-play.ts'
import { ringGraph } from '../../../../tools/agreement/graph/graphs.ts'
import { omegaFairLossy, omegaReliable } from '../../../../tools/agreement/graph/omega.ts'
import { playPaced, timelyPace } from '../../../../tools/agreement/graph/paced-play.ts'
import { deadLinks, electionFault, oneTimely, slowInTurns, slowLinks } from './election-support.ts'

const algorithms = [omegaReliable, omegaFairLossy]

for (const algorithm of algorithms) {
  const lossPercent = algorithm === omegaFairLossy ? 40 : 0

  test(`${algorithm.name}: in the common case all have elected process 0 after ${algorithm.commonCase.delays} delays`, () => {
    for (const processes of [2, 3, 5, 8]) {
      const play = new ElectionPlay(algorithm, processes)
      playPaced(play.world, algorithm.commonCase.delays - 1, timelyPace)
      assert.ok(play.world.leaders.some((leader) => leader !== 0))
      playPaced(play.world, algorithm.commonCase.delays, timelyPace)
      assert.deepEqual(
        play.world.leaders,
        play.correct.map(() => 0),
      )
      playPaced(play.world, 100, timelyPace)
      // All contend at first and tell all others, and process 0 reminds those that do.
      assert.equal(play.world.costs.messages, processes * (processes - 1) + (processes - 1))
      assert.equal(play.instability(1000, timelyPace), undefined)
    }
  })

  test(`${algorithm.name}: one process alone leads`, () => {
    const play = new ElectionPlay(algorithm, 1)
    playPaced(play.world, 100, timelyPace)
    assert.equal(play.instability(200, timelyPace), undefined)
    assert.deepEqual(play.world.leaders, [0])
  })

  test(`${algorithm.name}: leaders that crash are replaced, until one process is left`, () => {
    const play = new ElectionPlay(algorithm, 5)
    for (const leader of [0, 1, 2, 3]) {
      playPaced(play.world, play.world.now + 150, timelyPace)
      assert.equal(play.instability(play.world.now + 100, timelyPace), undefined)
      assert.deepEqual(new Set(play.correct.map((process) => play.world.leaders[process])), new Set([leader]))
      play.world.perform({ do: 'crash', process: leader })
    }
    playPaced(play.world, play.world.now + 150, timelyPace)
    assert.equal(play.instability(play.world.now + 100, timelyPace), undefined)
    assert.equal(play.world.leaders[4], 4)
  })

  test(`${algorithm.name}: it is stable after any disorder, with crashes in the middle of steps`, () => {
    for (let seed = 1; seed <= 60; seed += 1)
      assert.equal(electionFault({ algorithm, seed, lossPercent }), undefined, `seed ${seed}`)
  })

  test(`${algorithm.name}: links may be as slow as they like`, () => {
    for (let seed = 1; seed <= 4; seed += 1) {
      const scene = { algorithm, seed, lossPercent, pace: slowLinks(400), stableAt: 8000 }
      assert.equal(electionFault(scene), undefined, `seed ${seed}`)
    }
  })

  test(`${algorithm.name}: one process in time is enough, and leads, although all others never crash`, () => {
    for (const timely of [0, 1, 2]) {
      const play = new ElectionPlay(algorithm, 3)
      playPaced(play.world, 20_000, oneTimely(timely))
      assert.deepEqual(play.world.leaders, [timely, timely, timely])
      assert.ok(play.badnessOf(timely) <= 2)
    }
  })

  test(`${algorithm.name}: processes that are slow from time to time are accused a bounded number of times`, () => {
    const play = new ElectionPlay(algorithm, 3)
    playPaced(play.world, 12_000, slowInTurns(3))
    assert.equal(play.instability(15_000, slowInTurns(3)), undefined)
    const badness = play.correct.map((process) => play.badnessOf(process))
    console.log(`badness of ${badness.join(', ')}`)
    assert.ok(Math.max(...badness) > 0)
    // A heartbeat takes 22 delays at most; each of two others accuses until its patience, first 8, is that long.
    assert.ok(Math.max(...badness) <= 2 * (22 - 8 + 1))
  })

  test(`${algorithm.name}: a setting is refused with the reason`, () => {
    assert.equal(algorithm.refuse({ processes: 3, memories: 3 }), undefined)
    assert.match(algorithm.refuse({ processes: 3, memories: 1 })!, /each process has a memory/)
    assert.match(algorithm.refuse({ processes: 4, memories: 4, neighbours: ringGraph(4) })!, /has to be complete/)
    assert.match(algorithm.refuse({ processes: 4, memories: 4, neighbours: [[1]] })!, /has 1 processes/)
    assert.deepEqual(algorithm.bound({ processes: 4, memories: 4 }), { processes: 3, memories: 0 })
  })
}

test('over fair-lossy links, it is stable even where no message ever arrives', () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const scene = { algorithm: omegaFairLossy, seed, lossPercent: 100, pace: deadLinks }
    assert.equal(electionFault(scene), undefined, `seed ${seed}`)
  }
})

test('over reliable links, a message that is lost after all may leave two leaders', () => {
  const found = Array.from({ length: 60 }, (_, seed) =>
    electionFault({ algorithm: omegaReliable, seed, lossPercent: 40 }),
  ).filter((wrong) => wrong !== undefined)
  console.log(`${found.length} of 60 seeds, as: ${found[0]}`)
  assert.ok(found.length > 0)
})
