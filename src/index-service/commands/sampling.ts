import type { CommandContext } from './command.ts'
import { CommandFault } from './reply.ts'

/** With repetitions, a short command could ask for more than there is memory. */
const REPEATED_MAX = 2 ** 24

/** A number from 0 up to below `bound`. Its bias is below 2^-32 * bound. */
export function below(bound: number, { random }: CommandContext): number {
  return random() % bound
}

/**
 * Numbers from 0 up to below `size`, as SRANDMEMBER and its like choose: `count` of them, each once. A negative count
 * may repeat them: its sign says so.
 */
export function sampled(size: number, count: number, context: CommandContext): number[] {
  if (size === 0) return []
  if (-count > REPEATED_MAX) throw new CommandFault('value is out of range')
  if (count < 0) return Array.from({ length: -count }, () => below(size, context))
  if (count >= size) return Array.from({ length: size }, (_, index) => index)
  // The start of a shuffle of all, of which only what has moved is kept.
  const moved = new Map<number, number>()
  return Array.from({ length: count }, (_, index) => {
    const other = index + below(size - index, context)
    const chosen = moved.get(other) ?? other
    moved.set(other, moved.get(index) ?? index)
    return chosen
  })
}
