import { LockOffset, ReaderOffset, readerAt } from '../read-write-lock.ts'
import type { StructureOptions } from './contents.ts'
import { heldBy, type Owner, ownerOf, type StructureFigures } from './figures.ts'
import type { HeapSight } from './heap-sight.ts'
import type { NamedStructure } from './named-structures.ts'

/** More holds are not told apart: such a count is garbage. */
const HOLDS_MAX = 4096

interface WriterWords {
  readonly writer: number
  readonly dirty: number
}

/** Of a read-write lock: who writes, or how many hold it for reading. */
export function readWriteLockSight(heap: HeapSight, { body }: NamedStructure): StructureFigures {
  const words = heap.settled(() => writerWords(heap, body))
  if (words === undefined) return { isChanging: true }
  const { writer, dirty } = words
  if (writer !== 0 && writer === dirty) return heldBy(writer, { now: 'held for writing' })
  const holders = readers(heap, body)
  const times = holders.length === 1 ? 'once' : `${holders.length} times`
  const held = holders.length === 0 ? 'free' : `held ${times} for reading`
  const parts = [held, ...(writer === 0 ? [] : ['a writer waits']), ...(dirty === 0 ? [] : ['abandoned by a writer'])]
  return { now: parts.join(', '), holders }
}

export function readWriteLockOptions(heap: HeapSight, { body }: NamedStructure): StructureOptions {
  return [['last token', String(heap.word(body + LockOffset.Tokens) >>> 0)]]
}

/**
 * Both words at one moment; undefined if they changed. `dirty` alone may be of a writer that came after `writer` was
 * read. But then the count of tokens has grown before `writer` is 0 again.
 */
function writerWords(heap: HeapSight, body: number): WriterWords | undefined {
  const tokens = heap.word(body + LockOffset.Tokens)
  const writer = heap.word(body + LockOffset.Writer)
  const dirty = heap.word(body + LockOffset.Dirty)
  const isSame = heap.word(body + LockOffset.Writer) === writer && heap.word(body + LockOffset.Tokens) === tokens
  return isSame ? { writer, dirty } : undefined
}

/** The members that hold it for reading, once for each hold. */
function readers(heap: HeapSight, body: number): readonly Owner[] {
  const holders: Owner[] = []
  for (let slot = 0; slot < heap.participantsHigh; slot += 1) {
    const at = readerAt(body, slot)
    const owner = ownerOf(heap.word(at + ReaderOffset.Owner))
    const count = heap.word(at + ReaderOffset.Count)
    if (owner === undefined || count <= 0) continue
    for (let hold = 0; hold < count && holders.length < HOLDS_MAX; hold += 1) holders.push(owner)
  }
  return holders
}
