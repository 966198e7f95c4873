import { NamedOffset } from '../heap/directory.ts'
import type { StructureKindName } from '../heap/structure-kind.ts'
import { ROOT_BODY_BYTES } from '../mvrlu/mv-rlu.ts'
import { VersionOffset } from '../rcu/cell-core.ts'
import { savedKinds } from '../saving/saved-kinds.ts'
import { checkCell } from './check-cell.ts'
import { checkJobs } from './check-jobs.ts'
import { checkQueue, checkStack } from './check-list.ts'
import { checkLog } from './check-log.ts'
import { checkMap } from './check-map.ts'
import type { CheckedName } from './check-names.ts'
import { checkRoot } from './check-objects.ts'
import { checkValue } from './check-value.ts'
import {
  checkBarrier,
  checkCounter,
  checkFlag,
  checkLatch,
  checkLeader,
  checkMutex,
  checkOnce,
  checkRateLimiter,
  checkReadWriteLock,
  checkSemaphore,
  checkSequence,
} from './check-words.ts'
import type { CheckedStructure } from './checked-heap.ts'
import { isWhole, must } from './damage.ts'
import type { Unfinished } from './unfinished.ts'

/** How the inside of a kind is checked. Returns how many entries it has. A kind is added here. @throws Damage */
type Check = (structure: CheckedStructure, unfinished: Unfinished) => number

const kinds: Readonly<Record<StructureKindName, Check>> = {
  counter: checkCounter,
  sequence: checkSequence,
  flag: checkFlag,
  once: checkOnce,
  mutex: checkMutex,
  semaphore: checkSemaphore,
  'rate limiter': checkRateLimiter,
  leader: checkLeader,
  latch: checkLatch,
  barrier: checkBarrier,
  'read-write lock': checkReadWriteLock,
  map: checkMapValues,
  jobs: checkJobs,
  queue: checkQueue,
  stack: checkStack,
  log: (structure) => checkLog(structure, structure.parameters[2]),
  channel: (structure) => checkLog(structure, structure.parameters[1]),
  'rcu cell': checkCellValue,
  'mv-rlu': checkRoot,
}

const CODEC_MAX = 2 ** 32 - 1
const codec = [0, CODEC_MAX] as const
const bound = [0, 2 ** 26] as const

/** The least and the most of each parameter; those that a kind has not are 0. */
const parameters: Readonly<Record<StructureKindName, readonly (readonly [number, number])[]>> = {
  counter: [],
  sequence: [],
  flag: [],
  once: [],
  mutex: [],
  semaphore: [[1, 4096]],
  'rate limiter': [
    [1, 1e9],
    [1, 2 ** 30],
  ],
  leader: [[1, 2 ** 30]],
  latch: [[1, 2 ** 30]],
  barrier: [[1, 4096]],
  'read-write lock': [],
  map: [[0, Number.MAX_SAFE_INTEGER], bound, codec],
  jobs: [codec],
  queue: [bound, codec],
  stack: [bound, codec],
  log: [bound, [0, 2 ** 52], codec],
  channel: [bound, codec],
  'rcu cell': [codec],
  'mv-rlu': [codec],
}

/** Returns how many entries it has, or numbers of its own. @throws Damage */
export function checkStructure(structure: CheckedName, unfinished: Unfinished): number {
  const { kind, block } = structure
  const saved = savedKinds[kind]
  checkParameters(structure)
  const bodyBytes = typeof saved === 'string' ? ROOT_BODY_BYTES : saved.bodyBytes(structure.parameters)
  must(block.lengthBytes >= NamedOffset.Body + bodyBytes, 'its block is too short for what it was made with')
  return kinds[kind](structure, unfinished)
}

/** Times may have fractions. */
function checkParameters({ kind, parameters: there }: CheckedName): void {
  for (const [at, value] of there.entries()) {
    const [least, most] = parameters[kind][at] ?? [0, 0]
    must(isWhole(Math.floor(value), least, most), `it was made with what there is not (${value})`)
  }
}

function checkMapValues(structure: CheckedStructure, unfinished: Unfinished): number {
  const {
    heap,
    parameters: [, , codecNumber],
  } = structure
  return checkMap(structure, unfinished, ({ key, valueOffset, valueLength }) => {
    checkValue(heap, valueOffset, valueLength, codecNumber, `the value of ${JSON.stringify(key.value())}`)
  })
}

function checkCellValue(structure: CheckedStructure): number {
  const version = checkCell(structure)
  if (version === undefined) return 0
  const { offset, valueLength } = version
  checkValue(structure.heap, offset + VersionOffset.Value, valueLength, structure.parameters[0], 'its value')
  return 1
}
