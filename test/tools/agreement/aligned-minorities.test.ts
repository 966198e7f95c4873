import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { alignedPaxos } from '../../../tools/agreement/paxos/algorithms.ts'
import { isOver, violationOf } from '../../../tools/agreement/play/judge.ts'
import { nextDue, playTimely, type TimelyCrash } from '../../../tools/agreement/play/timely.ts'
import { AgreementWorld } from '../../../tools/agreement/play/world.ts'

const AGENTS_MAX = 6
const DELAYS_MAX = 500

const settings = Array.from({ length: AGENTS_MAX }, (_, index) => index + 1).flatMap((processes) =>
  Array.from({ length: AGENTS_MAX - processes + 1 }, (_, memories) => ({ processes, memories })),
)

/** Every set of less than half of the agents: the processes, and then the memories. */
function minoritiesOf(agents: number): number[][] {
  const sets = Array.from({ length: 2 ** agents }, (_, bits) =>
    Array.from({ length: agents }, (__, agent) => agent).filter((agent) => ((bits >> agent) & 1) === 1),
  )
  return sets.filter(({ length }) => 2 * length < agents)
}

/** Before each step of a timely play, the state of it. */
function* statesOf(world: AgreementWorld): Generator<AgreementWorld> {
  for (;;) {
    yield world.fork()
    const { action, at } = nextDue(world)
    if (action === undefined || isOver(world)) return
    world.now = Math.max(world.now, at)
    world.perform(action)
  }
}

/** What a process that crashes was sending is lost. */
function loseMessages(world: AgreementWorld, crashes: readonly TimelyCrash[]): void {
  world.messages = world.messages.filter(({ from }) => crashes.every(({ process }) => process !== from))
}

for (const { processes, memories } of settings)
  test(`aligned-paxos: of ${processes} + ${memories} processes and memories, any minority crashes at any step, and the others decide`, (t) => {
    const inputs = Array.from({ length: processes }, (_, process) => `v${process}`)
    const minorities = minoritiesOf(processes + memories)
    let plays = 0
    for (const state of statesOf(
      new AgreementWorld({ algorithm: alignedPaxos, setting: { processes, memories }, inputs }),
    ))
      for (const crashed of minorities)
        for (const isLost of [false, true]) {
          const world = state.fork()
          const crashes = crashed.map((agent): TimelyCrash => {
            return agent < processes ? { process: agent, at: world.now } : { memory: agent - processes, at: world.now }
          })
          if (isLost) loseMessages(world, crashes)
          playTimely(world, world.now + DELAYS_MAX, crashes)
          plays += 1
          const where = `without ${crashed.join()}, from ${state.now} on`
          assert.equal(violationOf(world), undefined, where)
          assert.ok(isOver(world), where)
          // What was decided before the crash counts as well.
          assert.ok(new Set(world.decisions.flat()).size <= 1, where)
        }
    t.diagnostic(`${plays} plays, ${minorities.length} minorities`)
    assert.ok(plays > 0)
  })
