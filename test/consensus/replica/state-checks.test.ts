import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foundingConfiguration } from '../../../src/consensus/replica/configuration.ts'
import { packCheck, StateChecks } from '../../../src/consensus/replica/state-checks.ts'

const PATIENCE = 3
const lives = (): boolean => true

/** Checks of number 7 by three voters, led by replica 2. */
function checksOf(hashes: Readonly<Record<number, number>>): StateChecks {
  const checks = new StateChecks(PATIENCE)
  checks.decided(7, foundingConfiguration([1, 2, 3]), 2)
  for (const [id, hash] of Object.entries(hashes)) checks.see(Number(id), packCheck(7, hash))
  return checks
}

test('replicas that are alike do not deviate', () => {
  assert.deepEqual(checksOf({ 1: 5, 2: 5, 3: 5, 9: 5 }).judge(lives), [])
})

test('one that is not what a majority is deviates at once, be it the leader or no voter, and is found once', () => {
  const led = checksOf({ 1: 5, 2: 6, 3: 5 })
  assert.deepEqual(led.judge(lives), [2])
  assert.deepEqual(led.judge(lives), [])
  assert.deepEqual(checksOf({ 1: 5, 2: 5, 9: 0xffff_ffff }).judge(lives), [9])
})

test('without a majority it is waited for all voters, and then a while; the leader counts', () => {
  const checks = checksOf({ 1: 5, 2: 6 })
  for (let tick = 0; tick < 10; tick += 1) assert.deepEqual(checks.judge(lives), [])
  checks.see(3, packCheck(7, 8))
  for (let tick = 0; tick < PATIENCE; tick += 1) assert.deepEqual(checks.judge(lives), [])
  assert.deepEqual(checks.judge(lives), [1, 3])
})

test('the state of a leader that has ended does not count', () => {
  const checks = checksOf({ 1: 5, 2: 6, 3: 8 })
  for (let tick = 0; tick < 10; tick += 1)
    assert.deepEqual(
      checks.judge((id) => id !== 2),
      [],
    )
})

test('a check is compared once its entry is here, too; old ones are forgotten', () => {
  const checks = new StateChecks(PATIENCE)
  for (const [id, hash] of [5, 5, 6].entries()) checks.see(id + 1, packCheck(7, hash))
  assert.deepEqual(checks.judge(lives), [])
  checks.decided(7, foundingConfiguration([1, 2, 3]), 1)
  checks.see(1, packCheck(8, 5))
  assert.deepEqual(checks.judge(lives), [3])

  const late = new StateChecks(PATIENCE)
  for (let number = 1; number <= 100; number += 1) late.decided(number, foundingConfiguration([1, 2, 3]), 1)
  for (const [id, hash] of [5, 5, 6].entries()) late.see(id + 1, packCheck(2, hash))
  assert.deepEqual(late.judge(lives), [])
})
