import type { Random } from 'aether-dsm/internal/runtime'

/** How likely a step is taken when it is drawn, of a hundred. */
const SPEEDS = [100, 100, 100, 20, 2]

/** Speeds that are drawn: some are slow for a while. */
export const drawSpeeds = (random: Random, count: number): number[] =>
  Array.from({ length: count }, () => SPEEDS[random.below(SPEEDS.length)]!)
