import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  checkLinearizable,
  type EntryInput,
  entryModel,
  type HistoryCall,
  type LinearizabilityVerdict,
  type ListInput,
  type LogInput,
  logModel,
  queueModel,
  stackModel,
} from '../../tools/linearizability/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import type { HistoryNote } from './fixtures/process.ts'
import { Shared } from './processes.ts'

const directory = useRuntimeDirectory()

/** How many histories are checked; AETHER_TEST_HISTORIES=1000 makes a soak of it. */
const HISTORIES = Number(process.env['AETHER_TEST_HISTORIES'] ?? 6)
const PROCESSES = 3
const CALLS = 80

type Call = HistoryCall<EntryInput | ListInput | LogInput, number>

/** The calls in a file, by what they were made to. */
function readHistory(file: string, into: Map<string, Call[]>): void {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  const notes = lines.map((line) => JSON.parse(line) as HistoryNote)
  for (const [index, note] of notes.entries()) {
    if (!('input' in note)) continue
    const next = notes[index + 1]
    const returned = next !== undefined && 'output' in next ? { at: next.at, output: next.output } : undefined
    into.set(note.key, [...(into.get(note.key) ?? []), { input: note.input, calledAt: note.at, returned }])
  }
}

function check(key: string, calls: readonly Call[]): LinearizabilityVerdict {
  const list = calls as readonly HistoryCall<ListInput, number>[]
  switch (key) {
    case 'queue':
      return checkLinearizable(queueModel, list).verdict
    case 'stack':
      return checkLinearizable(stackModel, list).verdict
    case 'log':
      return checkLinearizable(logModel, calls as readonly HistoryCall<LogInput, number>[]).verdict
    default:
      return checkLinearizable(entryModel, calls as readonly HistoryCall<EntryInput, number>[]).verdict
  }
}

function assertLinearizable(key: string, calls: readonly Call[]): void {
  assert.equal(check(key, calls), 'linearizable', `${key}: no order explains ${JSON.stringify(calls)}`)
}

test('what processes see of a map, a queue, a stack, a log and an object could have happened in one order, also where one of them is killed', async () => {
  for (let round = 0; round < HISTORIES; round += 1) {
    await using shared = await Shared.open()
    const files = Array.from({ length: PROCESSES }, (_, index) => join(directory, `history-${round}-${index}`))
    // One that is killed before it was given its turn has noted nothing.
    for (const file of files) writeFileSync(file, '')
    const others = await Promise.all(files.map(() => shared.start()))
    const making = others.map((other, index) => other.call('makeHistory', files[index], index + 1, CALLS))
    // Up before all of them wait for it: they begin as they come.
    await (await shared.structures.flag('begin')).raise()
    if (round % 2 === 1) {
      await Promise.race(making)
      await others[round % PROCESSES]?.kill()
    }
    await Promise.allSettled(making)
    const histories = new Map<string, Call[]>()
    for (const file of files) readHistory(file, histories)
    assert.equal(histories.size, 6)
    for (const [key, calls] of histories) assertLinearizable(key, calls)
  }
})
