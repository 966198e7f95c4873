/** A membership that grows: every order of what a few members live through, and drawn orders for more of them. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { MembershipMachine } from '../../../src/cluster/group/membership-machine.ts'
import { decodeStatement, encodeStatement } from '../../../src/cluster/group/membership-message.ts'
import { Random } from '../../../src/runtime/index.ts'
import { type ExplorerOptions, MembershipExplorer } from './membership-explorer.ts'

test('two members and one that joins, with a death and a wrong suspicion in every order: one group goes on', () => {
  const { endings, admissions } = new MembershipExplorer({ members: 2, candidates: 1, deaths: 1, suspicions: 1 }).run()
  assert.ok(admissions > 100, `${admissions} quiet states with the new member`)
  assert.ok((endings.get(2) ?? 0) > 100, 'two live on in some')
})

test('the same where members without a quorum wait: of those that go on there is one group', () => {
  const options = { members: 2, candidates: 1, deaths: 1, suspicions: 1, waits: true }
  const { endings } = new MembershipExplorer(options).run()
  assert.ok((endings.get(0) ?? 0) > 0, 'all wait in some')
  assert.ok((endings.get(2) ?? 0) > 100, 'two live on in some')
})

test('three members and one that joins, in every order: the new member is in the view of all', () => {
  const { endings } = new MembershipExplorer({ members: 3, candidates: 1, deaths: 0, suspicions: 0 }).run()
  assert.deepEqual([...endings.keys()], [4])
})

test('one member and two that join, with a death in every order: who lives is in one view', () => {
  const { endings } = new MembershipExplorer({ members: 1, candidates: 2, deaths: 1, suspicions: 0 }).run()
  assert.ok(endings.has(2))
})

const chosen = process.env['AETHER_SEED']
const count = Number(process.env['AETHER_SEEDS'] ?? 200)
const seeds = chosen === undefined ? Array.from({ length: count }, (_, seed) => seed) : [Number(chosen)]

function walkAll(options: ExplorerOptions): number {
  let admissions = 0
  for (const seed of seeds) {
    try {
      admissions += new MembershipExplorer(options).walk(new Random(seed)).admissions
    } catch (error) {
      throw new Error(`seed ${seed} (replay: AETHER_SEED=${seed}): ${(error as Error).message}`, { cause: error })
    }
  }
  return admissions
}

test('four members and three that join, with deaths and wrong suspicions in drawn orders: one group goes on', () => {
  const admissions = walkAll({ members: 4, candidates: 3, deaths: 2, suspicions: 1 })
  assert.ok(chosen !== undefined || admissions > count / 10, `${admissions} runs with a new member: too few`)
})

test('members that die one after the other while others join: who is left is one group', () => {
  const admissions = walkAll({ members: 3, candidates: 2, deaths: 2, suspicions: 1 })
  assert.ok(chosen !== undefined || admissions > count / 10, `${admissions} runs with a new member: too few`)
})

test('a member that waits ends when it hears of a later view without it, in whatever way', () => {
  const view = { epoch: 4, members: [0, 2, 3] }
  const options = {
    rank: 2,
    size: 8,
    leaseNs: 1e9,
    beatNs: 1e8,
    onQuorumLost: 'wait',
    growth: { view, given: 4 },
  } as const
  const machine = new MembershipMachine(options)
  const overheard = (epoch: number, ...members: number[]): readonly string[] =>
    machine.step({ type: 'overheard', view: { epoch, members } }, 1e9).map(({ type }) => type)
  assert.deepEqual(overheard(4, 0, 3, 5), [], 'a view of the same epoch is not later')
  assert.deepEqual(overheard(6, 0, 2, 4), [], 'it is in that one')
  assert.deepEqual(overheard(5, 0, 3), ['end'])
})

test('a statement with candidates travels whole, and nothing else is taken for one', () => {
  const statement = {
    epoch: 7,
    members: [0, 3, 40],
    out: [],
    certain: [],
    joining: [5, 2 ** 48 - 1],
    admitted: 2 ** 40 + 1,
  }
  const bytes = encodeStatement(statement, 64)
  assert.deepEqual(decodeStatement(bytes, 64), statement)
  assert.equal(decodeStatement(bytes.subarray(0, bytes.length - 4), 64), undefined)
  assert.equal(decodeStatement(bytes, 128), undefined)
})
