import { test } from 'node:test'
import { compareWithRedis, withoutRedis, withRedis } from '../support/differential.ts'

const COMMANDS = 20_000

test('random programs are answered as redis-server answers them', { skip: withoutRedis }, async (t) => {
  const seed = Number(process.env['AETHER_TEST_SEED'] ?? Date.now() % 2 ** 31)
  t.diagnostic(`AETHER_TEST_SEED=${seed}`)
  await withRedis(async (...clients) => {
    await compareWithRedis(clients, { seed, commands: COMMANDS, restoreEvery: 2_500 })
  })
})
