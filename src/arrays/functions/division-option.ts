import { inspect } from 'node:util'
import { ArrayError } from '../errors.ts'
import { checkDivision, type Division } from '../partitions/partition.ts'

/** How a new array is to lie over ranks, and whether it may be written to. */
interface DivisionOption {
  readonly partition?: Division
  readonly access?: 'read' | 'write'
  readonly others: readonly unknown[]
}

/** The options that divide a new array, and the operands without them. @throws ArrayError; ArgumentError */
export function divisionIn(operands: readonly unknown[]): DivisionOption {
  const last = operands[operands.length - 1]
  const isOptions = typeof last === 'object' && last !== null && Object.getPrototypeOf(last) === Object.prototype
  if (!isOptions || !('partition' in last || 'access' in last)) return { others: operands }
  const { partition, access, ...options } = last as { partition?: Division; access?: 'read' | 'write' }
  if (partition !== undefined) checkDivision(partition)
  if (access !== undefined && access !== 'read' && access !== 'write')
    throw new ArrayError('VALUE', `access of an array is 'read' or 'write', not ${inspect(access, { depth: 0 })}`)
  const others = [...operands.slice(0, -1), ...(Object.keys(options).length > 0 ? [options] : [])]
  return { others, ...(partition === undefined ? {} : { partition }), ...(access === undefined ? {} : { access }) }
}
