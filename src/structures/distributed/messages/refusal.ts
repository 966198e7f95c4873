import { textOfThrown } from '../../../native/index.ts'
import { StructureError } from '../../errors.ts'

/**
 * What a rank says instead of anything else while structures are opened: it could not. The others would wait for it.
 */
export interface Refusal {
  readonly refused: string
  /** Whether that may have come of what another rank did: it could not connect with one that has given up, say. */
  readonly mayFollow: boolean
}

const TEXT_MAX = 500

export function refusalFor(error: unknown, mayFollow: boolean): Refusal {
  return { refused: textOfThrown(error).slice(0, TEXT_MAX), mayFollow }
}

/**
 * The error of a rank to which others said this; one that does not follow from another first. Undefined if no rank
 * refused.
 */
export function refusalIn(
  said: readonly unknown[],
): { readonly error: StructureError; readonly mayFollow: boolean } | undefined {
  const refusals = said.flatMap((value, rank) => (isRefusal(value) ? [{ rank, ...value }] : []))
  const [first] = refusals.sort((a, b) => Number(a.mayFollow) - Number(b.mayFollow))
  if (first === undefined) return undefined
  const why = `rank ${first.rank} could not open them: ${first.refused}`
  return {
    error: new StructureError('ERR_AETHER_STRUCTURES_NOT_OPENED', 'structures', why),
    mayFollow: first.mayFollow,
  }
}

function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Refusal>).refused === 'string'
}
