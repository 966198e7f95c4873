import type { StructureKindName } from '../heap/structure-kind.ts'
import type { StructureContents, StructureOptions } from './contents.ts'
import type { StructureFigures } from './figures.ts'
import type { HeapSight } from './heap-sight.ts'
import { jobsContents, jobsOptions, jobsSight } from './jobs-sight.ts'
import { listOptions, queueContents, queueSight, stackContents, stackSight } from './list-sights.ts'
import { readWriteLockOptions, readWriteLockSight } from './lock-sights.ts'
import { channelOptions, logContents, logOptions, logSight } from './log-sight.ts'
import { mapContents, mapOptions, mapSight } from './map-sight.ts'
import type { NamedStructure } from './named-structures.ts'
import { cellContents, cellSight, codecOptions, mvRluContents, mvRluSight } from './object-sights.ts'
import {
  barrierSight,
  counterSight,
  flagSight,
  latchSight,
  leaderSight,
  mutexSight,
  onceSight,
  rateLimiterSight,
  semaphoreSight,
  sequenceSight,
} from './small-sights.ts'

/** How a kind of structure is read from outside. */
interface KindSight {
  figures(heap: HeapSight, structure: NamedStructure): StructureFigures
  options?(heap: HeapSight, structure: NamedStructure): StructureOptions
  /** For kinds with keys or values. The whole memory of the others is their own block. */
  contents?(heap: HeapSight, structure: NamedStructure, most: number): StructureContents
}

const kinds: Readonly<Record<StructureKindName, KindSight>> = {
  counter: counterSight,
  sequence: sequenceSight,
  flag: flagSight,
  once: onceSight,
  mutex: mutexSight,
  semaphore: semaphoreSight,
  'rate limiter': rateLimiterSight,
  leader: leaderSight,
  latch: latchSight,
  barrier: barrierSight,
  'read-write lock': { figures: readWriteLockSight, options: readWriteLockOptions },
  map: { figures: mapSight, options: mapOptions, contents: mapContents },
  queue: { figures: queueSight, options: listOptions, contents: queueContents },
  stack: { figures: stackSight, options: listOptions, contents: stackContents },
  log: { figures: logSight, options: logOptions, contents: logContents },
  channel: { figures: logSight, options: channelOptions, contents: logContents },
  'rcu cell': { figures: cellSight, options: codecOptions, contents: cellContents },
  jobs: { figures: jobsSight, options: jobsOptions, contents: jobsContents },
  'mv-rlu': { figures: mvRluSight, options: codecOptions, contents: mvRluContents },
}

/** What is known of a structure now. Costs at most some hundred reads of memory, whatever its length. */
export function figuresOf(heap: HeapSight, structure: NamedStructure): StructureFigures {
  const { kind, block } = structure
  const sight = kinds[kind]
  const figures = sight.figures(heap, structure)
  return sight.contents === undefined ? { bytes: block.lengthBytes, ...figures } : figures
}

/** What a structure was made with. */
export function optionsOf(heap: HeapSight, structure: NamedStructure): StructureOptions {
  return kinds[structure.kind].options?.(heap, structure) ?? []
}

/** Up to `most` of its keys or values, at least one. */
export function contentsOf(heap: HeapSight, structure: NamedStructure, most: number): StructureContents {
  const { kind } = structure
  return kinds[kind].contents?.(heap, structure, most) ?? { title: '', items: [], isWhole: true }
}
