import process from 'node:process'
import { test } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'
import { fuzzBytes } from './support/fuzz/fuzz-bytes.ts'
import { fuzzCommands } from './support/fuzz/fuzz-commands.ts'

const COMMANDS = 20_000
const STREAMS = 400

useRuntimeDirectory()
// SORT with ALPHA sorts by it.
process.env['LC_ALL'] = 'C'
const first = Number(process.env['AETHER_TEST_SEED'] ?? Date.now() % 2 ** 31)
const programs = Number(process.env['AETHER_TEST_PROGRAMS'] ?? 50)

test('a million random commands, and 20,000 spoiled streams', { skip: withoutRedis }, async (t) => {
  for (let seed = first; seed < first + programs; seed += 1) {
    t.diagnostic(`AETHER_TEST_SEED=${seed}`)
    await using door = await openDoor()
    await using redis = await openRedis()
    const servers = { own: door.port, theirs: redis.socket, seed }
    await fuzzCommands({ ...servers, commands: COMMANDS })
    await fuzzBytes({ ...servers, streams: STREAMS })
  }
})
