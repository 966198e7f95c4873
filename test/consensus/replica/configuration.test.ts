import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import {
  type Configuration,
  decodeConfiguration,
  encodeConfiguration,
  foundingConfiguration,
  majorityOf,
  withoutVoter,
  withVoters,
} from '../../../src/consensus/replica/configuration.ts'

const idsOf = ({ voters }: Configuration): number[] => voters.map(({ id }) => id)
const numbersOf = ({ voters }: Configuration): number[] => voters.map(({ number }) => number)

test('two majorities have a voter in common', () => {
  for (let count = 1; count <= 9; count += 1) {
    const majority = majorityOf(foundingConfiguration(Array.from({ length: count }, (_, id) => id)))
    assert.ok(2 * majority > count)
    assert.ok(2 * (majority - 1) <= count)
  }
})

test('the majorities before and after one change have a voter in common', () => {
  for (let count = 1; count <= 9; count += 1) {
    const before = foundingConfiguration(Array.from({ length: count }, (_, id) => id))
    const after = withVoters(before, [77], 1024)
    assert.ok(majorityOf(before) + majorityOf(after) > count + 1)
  }
})

test('voters are added and removed one at a time, each in a new version', () => {
  const founding = foundingConfiguration([11, 12, 13])
  const more = withVoters(founding, [14], 1024)
  const fewer = withoutVoter(more, 12)
  assert.deepEqual([founding, more, fewer].map(idsOf), [
    [11, 12, 13],
    [11, 12, 13, 14],
    [11, 13, 14],
  ])
  assert.deepEqual(
    [founding, more, fewer].map(({ version }) => version),
    [0, 1, 2],
  )
})

test('no two voters have one number, and one that was given is not given soon again', () => {
  let configuration = foundingConfiguration([0, 1, 2])
  const given: number[] = numbersOf(configuration)
  for (let id = 3; id < 40; id += 1) {
    configuration = withoutVoter(withVoters(configuration, [id], 8), id - 3)
    const numbers = numbersOf(configuration)
    assert.equal(new Set(numbers).size, 3)
    assert.ok(numbers.every((number) => number >= 0 && number < 8))
    given.push(numbers.at(-1)!)
    assert.ok(!given.slice(-4, -1).includes(given.at(-1)!))
  }
})

test('a configuration is read as it was written', () => {
  const configuration = withVoters(foundingConfiguration([2 ** 47, 5]), [9], 1024)
  assert.deepEqual(decodeConfiguration(encodeConfiguration(configuration)), configuration)
})
