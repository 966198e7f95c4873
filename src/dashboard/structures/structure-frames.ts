import { processInWords } from '../../cluster/index.ts'
import {
  figuresOf,
  heapUse,
  type NamedStructure,
  type Owner,
  optionsOf,
  type StructureFigures,
  structureLabel,
} from '../../structures/index.ts'
import { ratePerSecond } from '../observed-member.ts'
import type { StructureDetailFrame, StructureFrame, StructureMemoryFrame } from '../wire.ts'
import type { FoundHeaps, MappedHeap } from './mapped-heaps.ts'
import { NO_COUNTS, type StructureMember, type StructureUsers } from './structure-users.ts'

/** Everything that a look needs to know of members. */
export interface UsersAtLook {
  readonly members: readonly StructureMember[]
  readonly users: StructureUsers
  /** Those of the look before, and how long ago it was; undefined the first time. */
  readonly before?: { readonly users: StructureUsers; readonly elapsedMs: number }
}

/** One structure as the page and `aether top` show it. */
export function structureFrame(mapped: MappedHeap, structure: NamedStructure, at: UsersAtLook): StructureFrame {
  const { name, kind } = structure
  const label = structureLabel(mapped.region, kind, name)
  const figures = figuresOf(mapped.heap, structure)
  const { waiting, evictions, expirations } = at.users.sum(label)
  const calls = at.before === undefined ? NO_COUNTS : at.users.since(label, at.before.users)
  const elapsedMs = at.before?.elapsedMs ?? 0
  return {
    region: mapped.region,
    name,
    kind,
    entries: figures.entries ?? null,
    bytes: figures.bytes ?? null,
    isEstimate: figures.isEstimate === true,
    isChanging: figures.isChanging === true,
    now: nowText(figures, at.members),
    reads: ratePerSecond(calls.reads, elapsedMs),
    writes: ratePerSecond(calls.writes, elapsedMs),
    waiting,
    evictions,
    expirations,
  }
}

/** What the page and the command show of one structure beside its contents. */
export function structureDetail(
  mapped: MappedHeap,
  structure: NamedStructure,
  at: UsersAtLook,
): Omit<StructureDetailFrame, 'title' | 'items' | 'isWhole'> {
  const { holder, holders = [] } = figuresOf(mapped.heap, structure)
  const held = [...(holder === undefined ? [] : [holder]), ...holders].map((each) => holderText(each, at.members))
  const uses = at.users.of(structureLabel(mapped.region, structure.kind, structure.name))
  return {
    structure: structureFrame(mapped, structure, at),
    options: optionsOf(mapped.heap, structure),
    holders: counted(held),
    users: uses.map(({ member: { rank, slot, processId, foreign }, reads, writes, waiting }) => ({
      member: rank === null ? `member ${slot}` : `rank ${rank}`,
      processId,
      ...(foreign === true ? { foreign } : {}),
      reads,
      writes,
      waiting,
    })),
  }
}

/** The memory of all regions with structures. */
export function memoryFrames({ heaps, others }: FoundHeaps): readonly StructureMemoryFrame[] {
  const known = heaps.map(({ region, heap }) => ({ region, ...heapUse(heap), isOther: false }))
  const unknown = others.map(({ name, size }) => ({ region: name, sizeBytes: size, usedBytes: 0, isEstimate: false }))
  return [...known, ...unknown.map((each) => ({ ...each, isOther: true }))]
}

/** A member that holds something, in words. */
function holderText({ slot, epoch }: Owner, members: readonly StructureMember[]): string {
  const member = members.find((each) => each.slot === slot && each.epoch === epoch)
  if (member === undefined) return 'a process that has ended'
  return member.rank === null ? processInWords(member) : `rank ${member.rank} (${processInWords(member)})`
}

/** Each text once: `process 4711, 3 times`. */
function counted(texts: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].map(([text, count]) => (count === 1 ? text : `${text}, ${count} times`))
}

function nowText({ now = '', holder }: StructureFigures, members: readonly StructureMember[]): string {
  return holder === undefined ? now : `${now} by ${holderText(holder, members)}`
}
