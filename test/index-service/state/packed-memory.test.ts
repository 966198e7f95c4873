/** Replicas set packed strings together, or one by one if they have someone to tell: their state is the same. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import type { Reply } from '../../../src/index-service/commands/reply.ts'
import { RecordTable } from '../../../src/index-service/memory/record-table.ts'
import { shardCodec } from '../../../src/index-service/state/shard-codec.ts'
import { ShardMachine } from '../../../src/index-service/state/shard-machine.ts'

const MEMORY_MAX = 100_000

function runBoth(commands: readonly (readonly string[])[]): readonly (readonly Reply[])[] {
  return [{}, { onChange: () => undefined }].map((listeners) => {
    const records = new RecordTable()
    const machine = new ShardMachine({ records, memoryMax: MEMORY_MAX, listeners })
    const run = (words: readonly string[], index: number): readonly Reply[] => {
      const calls = words.map((text) => {
        const [name = '', ...args] = text.split(' ')
        return { name, args: args.map((each) => Buffer.from(each, 'latin1')) }
      })
      const command = shardCodec.decode(shardCodec.encode({ calls, apart: true }))
      return machine.apply(command, { index, timeMs: 1_700_000_000_000, term: 1 }) as readonly Reply[]
    }
    const replies = commands.flatMap((words, at) => run(words, at + 1))
    records.close()
    return replies
  })
}

test('strings that are set together are refused once a call before them has used up the memory', () => {
  const sets = Array.from({ length: 8 }, (_, at) => `SET key${at} on`)
  const [together, alone] = runBoth([sets, ['SETRANGE long 200000 x', ...sets], sets])
  assert.deepEqual(together, alone)
  assert.deepEqual(together!.slice(0, 9), [...sets.map(() => 'OK'), 200_001])
  for (const reply of together!.slice(9)) assert.equal((reply as { fault: string }).fault, 'OOM')
})
