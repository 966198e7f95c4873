import { RegionGroup } from '../dsm/index.ts'
import { checkInstance } from '../native/index.ts'
import { invoke, type Lifted, NdArray } from './array.ts'
import { copyOf } from './blocks/copying.ts'
import { type GroupFunctions, openGroupArrays } from './distribution/group-arrays.ts'
import { ArrayError } from './errors.ts'
import { nodeOf } from './functions/as-node.ts'
import { divisionIn } from './functions/division-option.ts'
import { camel, type Entry, type NodeEntry } from './functions/entry.ts'
import { FUNCTIONS, type Functions } from './functions/table.ts'
import { demand } from './graph/demand.ts'
import { divide } from './partitions/partition.ts'
import { DTYPES, type DType, type DTypeName } from './types/dtype.ts'

/** Constants of the standard. */
export interface Constants {
  readonly e: number
  readonly inf: number
  readonly nan: number
  readonly newaxis: null
  readonly pi: number
}

const constants: Constants = { e: Math.E, inf: Infinity, nan: Number.NaN, newaxis: null, pi: Math.PI }

/** The functions of the namespace as users call them. */
type LiftedFunctions = { readonly [Name in keyof Functions]: Lifted<Functions[Name]> }

/** The namespace of the standard: its functions in camelCase, its data types and constants. */
export interface Arrays extends LiftedFunctions, Readonly<Record<DTypeName, DType>>, Constants {
  /** Calls a function by its name in the standard: `xp.call('linalg.vector_norm', x)`. @throws ArrayError */
  call(name: string, ...operands: readonly unknown[]): unknown
  isArray(value: unknown): value is NdArray
}

/** The namespace of the ranks of a group. */
export type SharedArrays = Arrays & GroupFunctions

/**
 * Arrays in this process alone; or, with a group, among its ranks. Every rank then opens them, and makes the same calls
 * in the same order. Arrays that are made with `{ partition }` lie in parts over the ranks.
 */
export async function openArrays(): Promise<Arrays>
export async function openArrays(group: RegionGroup): Promise<SharedArrays>
export async function openArrays(group?: RegionGroup): Promise<Arrays> {
  if (group === undefined) return namespaceOf(invokeAlone)
  checkInstance('group', group, RegionGroup, 'as join() returns')
  const { call, functions } = await openGroupArrays(group)
  const namespace = namespaceOf(call)
  return Object.defineProperties(namespace, Object.getOwnPropertyDescriptors(functions)) as SharedArrays
}

/** The only rank has all elements, however they are to be divided. */
function invokeAlone(entry: Entry | NodeEntry, operands: readonly unknown[]): unknown {
  const { partition, access, others } = divisionIn(operands)
  const result = invoke(entry, others)
  if (!(result instanceof NdArray)) return result
  if (partition !== undefined) divide(result.shape, partition, [0])
  if (access !== 'read') return result
  const node = nodeOf(copyOf(demand(NdArray.nodeOf(result))))
  node.storage!.protect()
  return new NdArray(node)
}

type Invoke = (entry: Entry | NodeEntry, operands: readonly unknown[]) => unknown

/** The namespace whose functions are called in this way. */
export function namespaceOf(call: Invoke): Arrays {
  const entries = new Map(FUNCTIONS.map((entry) => [entry.name, entry]))
  const namespace: Record<string, unknown> = {
    ...DTYPES,
    ...constants,
    isArray: (value: unknown) => value instanceof NdArray,
    call: (name: string, ...operands: readonly unknown[]) => {
      const entry = entries.get(name)
      if (entry === undefined) throw new ArrayError('VALUE', `there is no function '${name}'; see the list in the docs`)
      return call(entry, operands)
    },
  }
  for (const entry of FUNCTIONS) {
    const path = entry.name.split('.')
    const name = camel(path.at(-1)!)
    let place = namespace
    for (const extension of path.slice(0, -1)) {
      place[extension] ??= {}
      place = place[extension] as Record<string, unknown>
    }
    place[name] = (...operands: readonly unknown[]) => call(entry, operands)
  }
  return namespace as unknown as Arrays
}
