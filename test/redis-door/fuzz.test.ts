/** Random programs, over several connections: a door answers what redis-server answers. */
import process from 'node:process'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'
import { fuzzCommands } from './support/fuzz/fuzz-commands.ts'

const COMMANDS = 5_000

useRuntimeDirectory()
// SORT with ALPHA sorts by it.
process.env['LC_ALL'] = 'C'
// Others in each run are for fuzz.long.test.ts: here it is known that what fails was made by a change.
const seed = Number(process.env['AETHER_TEST_SEED'] ?? 1)

test('random programs of several clients are answered as by redis-server', { skip: withoutRedis }, async (t) => {
  t.diagnostic(`AETHER_TEST_SEED=${seed}`)
  await using door = await openDoor()
  await using redis = await openRedis()
  await fuzzCommands({ own: door.port, theirs: redis.socket, seed, commands: COMMANDS })
})
