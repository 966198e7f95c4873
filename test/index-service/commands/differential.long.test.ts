import { test } from 'node:test'
import { compareWithRedis, withoutRedis, withRedis } from '../support/differential.ts'

const PROGRAMS = 50
const COMMANDS = 20_000

test('a million random commands are answered as redis-server answers them', { skip: withoutRedis }, async (t) => {
  const first = Number(process.env['AETHER_TEST_SEED'] ?? Date.now() % 2 ** 31)
  t.diagnostic(`AETHER_TEST_SEED=${first}`)
  await withRedis(async (...clients) => {
    for (let number = 0; number < PROGRAMS; number += 1)
      await compareWithRedis(clients, { seed: first + number, commands: COMMANDS, restoreEvery: 2_500 })
  })
})
