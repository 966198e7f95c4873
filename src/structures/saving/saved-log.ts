import { LogCore, type Retention } from '../log/log-core.ts'
import { LOG_BODY_BYTES } from '../log/shared-log.ts'
import { BELL_BYTES } from '../waiting/bell.ts'
import { type SavedBody, type SavedKind, STEP_ENTRIES } from './saved-kind.ts'

const coreOf = ({ heap, offset }: SavedBody, retention: Retention) => new LogCore(heap, offset + BELL_BYTES, retention)

const Tag = { Value: 0, Index: 1 } as const

/**
 * A record is an entry's value behind a 0; or the index of the next entry, Float64, behind a 1: at the start, and where
 * entries were dropped meanwhile.
 */
function savedLogOf(retentionOf: (parameters: readonly number[]) => Retention): SavedKind {
  return {
    bodyBytes: () => LOG_BODY_BYTES,

    *dump(body) {
      const core = coreOf(body, retentionOf(body.parameters))
      if (!core.begun) return
      let { end: next } = core.bounds()
      const [oldest] = core.read(0, 1)
      if (oldest !== undefined) next = oldest.index
      yield indexRecord(next)
      for (;;) {
        const entries = core.read(next, STEP_ENTRIES)
        if (entries.length === 0) return
        for (const { index, value } of entries) {
          if (index !== next) yield indexRecord(index)
          next = index + 1
          yield valueRecord(value)
        }
      }
    },

    restore(body) {
      const core = coreOf(body, retentionOf(body.parameters))
      const isNew = !core.begun
      return (record) => {
        if (record[0] === Tag.Value) core.append(record.subarray(1))
        else if (isNew) core.beginAt(Buffer.from(record).readDoubleLE(1))
      }
    },
  }
}

function valueRecord(value: Uint8Array): Uint8Array {
  const record = Buffer.allocUnsafe(1 + value.length)
  record[0] = Tag.Value
  record.set(value, 1)
  return record
}

function indexRecord(index: number): Uint8Array {
  const record = Buffer.alloc(9)
  record[0] = Tag.Index
  record.writeDoubleLE(index, 1)
  return record
}

export const savedLog: SavedKind = savedLogOf(([records = 0, bytes = 0]) => ({ records, bytes, dropsForMemory: false }))
export const savedChannel: SavedKind = savedLogOf(([records = 0]) => ({ records, bytes: 0, dropsForMemory: true }))
