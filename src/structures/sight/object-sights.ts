import { GONE, ObjectOffset, VersionOffset, WriteSetOffset } from '../mvrlu/layout.ts'
import { VersionOffset as CellVersionOffset } from '../rcu/cell-core.ts'
import type { StructureContents, StructureOptions } from './contents.ts'
import { heldBy, type StructureFigures } from './figures.ts'
import type { HeapSight } from './heap-sight.ts'
import type { NamedStructure } from './named-structures.ts'
import { codecName, valueText } from './value-text.ts'

/** A cell has no version before the first assignment. */
export function cellSight(heap: HeapSight, { body, block }: NamedStructure): StructureFigures {
  if (heap.word(body) === 0) return { entries: 0, bytes: block.lengthBytes, now: 'not assigned' }
  const found = heap.settled(() =>
    heap.through(body, ({ offset, lengthBytes }) => ({
      version: heap.float(offset + CellVersionOffset.Version),
      lengthBytes,
    })),
  )
  if (found === undefined) return { isChanging: true }
  return { entries: 1, bytes: block.lengthBytes + found.lengthBytes, now: `version ${found.version}` }
}

export function cellContents(heap: HeapSight, { body, parameters }: NamedStructure): StructureContents {
  const text = heap.settled(() =>
    heap.through(body, (version) =>
      valueText(
        heap,
        version,
        CellVersionOffset.Value,
        heap.word(version.offset + CellVersionOffset.Length),
        parameters[0],
      ),
    ),
  )
  return contentsOf('value', text, heap.word(body) === 0)
}

/**
 * Only the root can be seen: which objects there are is known to the values of other objects, in the program's own
 * form. So neither objects nor bytes are counted.
 */
export function mvRluSight(heap: HeapSight, { body }: NamedStructure): StructureFigures {
  const locker = heap.through(body + ObjectOffset.Lock, ({ offset }) => heap.word(offset + WriteSetOffset.Owner)) ?? 0
  const locked = locker === 0 ? '' : ', locked'
  if (heap.word(body + ObjectOffset.Head) === 0) return heldBy(locker, { now: `root not assigned${locked}` })
  const clock = heap.settled(() =>
    heap.through(body + ObjectOffset.Head, ({ offset }) => heap.float(offset + VersionOffset.Clock)),
  )
  if (clock === undefined) return { isChanging: true }
  return heldBy(locker, { now: `root of commit ${clock}${locked}` })
}

export function mvRluContents(heap: HeapSight, { body, parameters }: NamedStructure): StructureContents {
  const place = body + ObjectOffset.Head
  const text = heap.settled(() =>
    heap.through(place, (version) => {
      const length = heap.word(version.offset + VersionOffset.Length)
      return length === GONE ? 'freed' : valueText(heap, version, VersionOffset.Value, length, parameters[0])
    }),
  )
  return contentsOf('root', text, heap.word(place) === 0)
}

/** Of cells and objects. */
export function codecOptions(_heap: HeapSight, { parameters }: NamedStructure): StructureOptions {
  return [['codec', codecName(parameters[0])]]
}

function contentsOf(title: string, text: string | undefined, isEmpty: boolean): StructureContents {
  const items = text === undefined ? [] : [{ label: '', text }]
  return { title, items, isWhole: isEmpty || text !== undefined }
}
