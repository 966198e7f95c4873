import assert from 'node:assert/strict'
import { type Heap, offsetOf } from '../heap/heap.ts'
import { HeaderOffset } from '../heap/layout.ts'
import type { Participant } from '../heap/participant.ts'
import { isInList, noteLinked } from '../list/node.ts'
import { EntryKind, ObjectOffset, VersionOffset, WriteSetOffset } from './layout.ts'
import { type Entry, Words } from './write-set.ts'

/**
 * Bring the versions of a committed write set to their objects and open its locks. Any participant may do it, inside an
 * epoch; doing it more than once does no harm.
 */
export function finish(words: Words, set: number): void {
  const { memory } = words.heap
  const finished = offsetOf(set) + WriteSetOffset.Finished
  if (memory.load(finished) !== 0) return
  const clock = words.clockOfSet(set)
  for (const { object, version } of words.entries(set)) {
    if (object === 0) continue
    if (version !== 0) install(words, object, version, clock)
    words.unlock(object, set)
  }
  memory.store(finished, 1)
}

/** Only the first of all who do this finds the version before it at the head. */
function install(words: Words, object: number, version: number, clock: number): void {
  const { memory } = words.heap
  memory.pokeFloat(offsetOf(version) + VersionOffset.Clock, clock)
  memory.compareExchange(offsetOf(object) + ObjectOffset.Head, words.older(version), version)
}

/**
 * Undo a write set that was not committed: called by its owner, or by the participant that recovers the owner. Inside
 * an epoch; may be done twice.
 */
export function undo(words: Words, set: number, setState: number): void {
  const { epochs } = words.heap
  for (const { kind, object, objectState, version, versionState } of words.entries(set)) {
    if (object === 0) continue
    words.unlock(object, set)
    if (version !== 0) epochs.retire(version, versionState)
    if (kind === EntryKind.Make) epochs.retire(object, objectState)
  }
  epochs.retire(set, setState)
}

/**
 * Retire what no section can need any more since the watermark has come to a finished write set. Any participant may do
 * it, inside an epoch; it may be done twice.
 */
export function reclaim(words: Words, set: number, watermark: number): void {
  assert.ok(words.clockOfSet(set) <= watermark, 'what is collected is not newer than the watermark')
  for (const entry of words.entries(set)) if (entry.version !== 0 && entry.object !== 0) reclaimEntry(words, entry)
}

function reclaimEntry(words: Words, { kind, object, objectState, version, versionState }: Entry): void {
  const { epochs, blocks } = words.heap
  // Where a newer one was collected before, it has taken this one with it.
  if (blocks.state(version) === versionState) {
    reclaimOlder(words, version)
    if (kind === EntryKind.Free) epochs.retire(version, versionState)
  }
  if (kind === EntryKind.Free) epochs.retire(object, objectState)
}

/** The oldest first, so that a participant killed in the middle leaves the rest reachable for the next. */
function reclaimOlder(words: Words, version: number): void {
  const { memory, blocks, epochs } = words.heap
  const gone: { readonly reference: number; readonly state: number }[] = []
  let at = version
  for (;;) {
    const older = words.older(at)
    if (older === 0) break
    const state = memory.peek(offsetOf(at) + VersionOffset.OlderState)
    if (blocks.state(older) !== state) break
    assert.ok(words.clock(older) < words.clock(at), 'clocks fall from version to version')
    gone.push({ reference: older, state })
    at = older
  }
  for (const { reference, state } of gone.reverse()) epochs.retire(reference, state)
  memory.store(offsetOf(version) + VersionOffset.Older, 0)
}

/**
 * For recovery: what a participant that has ended was doing to objects is finished where it was committed, undone where
 * not.
 */
export function settleWriteSet(heap: Heap, participant: Participant): void {
  participant.publishSnapshot(0)
  const set = participant.writeSet
  if (set === 0) return
  const words = new Words(heap)
  heap.epochs.enter()
  try {
    const state = participant.writeSetState
    // Otherwise it was settled, and its block has gone its way.
    if (heap.blocks.state(set) === state) settle(words, set, state)
    participant.clearWriteSet()
  } finally {
    heap.epochs.exit()
  }
}

/**
 * Looking for it in the log first, and then whether it was noted, cannot miss both: it is noted before it is unlinked.
 */
function settle(words: Words, set: number, state: number): void {
  const { heap } = words
  if (isInList(heap, HeaderOffset.CommitHead, set)) noteLinked(heap, set)
  if (words.isCommitted(set)) finish(words, set)
  else if (heap.blocks.state(set) === state) undo(words, set, state)
}
