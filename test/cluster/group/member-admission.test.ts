import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DoorAnswer, type MemberCard, MOVED } from '../../../src/cluster/group/growth/introduction.ts'
import { MemberAdmission } from '../../../src/cluster/group/growth/member-admission.ts'
import type { Mesh } from '../../../src/cluster/group/mesh.ts'

const card: MemberCard = {
  ...{ processId: 1, slot: 0, epoch: 1, isAtSeed: true, mtuBytes: 4096 },
  ...{ host: 'a', space: 'a', processes: 'a' },
}
const view = { epoch: 4, members: [0, 1] }

/** What a member answers that has a quorum, or has none. */
function statusOf(isStuck: boolean): DoorAnswer {
  const membership = { view, given: 2, joining: new Set<number>(), isCandidate: false, isStuck }
  const admission = new MemberAdmission(
    { card, cards: [card, card], view },
    {
      ...{ rank: 0, leaseMs: 1000, mesh: {} as Mesh, membership },
      ...{ hasLeft: () => false, ask: () => assert.fail(), admit: () => assert.fail() },
    },
  )
  const answers: DoorAnswer[] = []
  admission.atDoor({ ask: 'status' }, (answer) => answers.push(answer))
  assert.equal(answers.length, 1)
  return answers[0]!
}

test('a member without a quorum does not tell a process that wants to join of a view that admits no one', () => {
  assert.deepEqual(statusOf(false), { view, given: 2, cards: [card, card], leaseMs: 1000 })
  assert.equal(statusOf(true), MOVED)
})
