/** Writes a table as fast as it can, and says where it is. */
import process from 'node:process'
import { RecordTable } from '../../../src/index-service/memory/record-table.ts'
import { keyOf, valueWritten } from './written.ts'

const table = new RecordTable()
const KEYS = 500
for (let number = 0; number < KEYS; number += 1) table.set(keyOf(number), valueWritten(number, 1))
let misses = 0
let version = 1
let others = 0
process.on('message', () => process.send!({ processId: process.pid, misses }))
process.send!(table.descriptor)
const write = () => {
  version += 1
  for (let number = 0; number < KEYS; number += 1) table.set(keyOf(number), valueWritten(number, version))
  // Others come and go, so that buckets split, overflow and shrink.
  for (const end = others + 200; others < end; others += 1) table.set(keyOf(others + KEYS), valueWritten(others, 1))
  if (version % 50 === 0) for (; others > 0; others -= 1) table.delete(keyOf(others - 1 + KEYS))
  for (let number = 0; number < KEYS; number += 50) if (table.get(keyOf(number)) === undefined) misses += 1
  setImmediate(write)
}
write()
