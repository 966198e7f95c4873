import type { AgreementWorld, Scene } from './world.ts'

/** What is judged: what each process has decided, in a world or by real processes. */
interface Decided {
  readonly scene: Pick<Scene, 'algorithm' | 'inputs'>
  readonly decisions: readonly (readonly string[])[]
  isCorrect(process: number): boolean
}

/**
 * What is wrong with the decisions so far: two that differ, one that no one proposed, or two by one process. What a
 * process decided before it crashed counts. What a Byzantine process says does not.
 */
export function violationOf(world: Decided): string | undefined {
  const correct = world.decisions.flatMap((values, process) =>
    world.isCorrect(process) ? values.map((value) => ({ process, value })) : [],
  )
  const [first] = correct
  if (first === undefined) return undefined
  for (const { process, value } of correct)
    if (value !== first.value)
      return `process ${first.process} decided ${first.value}, and process ${process} decided ${value}`
  const twice = world.decisions.findIndex((values, process) => world.isCorrect(process) && values.length > 1)
  if (twice >= 0) return `process ${twice} decided twice`
  const { inputs } = world.scene
  const proposed = inputs.filter((_, process) => world.isCorrect(process))
  const isCrash = world.scene.algorithm.failures === 'crash'
  if (isCrash && !inputs.includes(first.value)) return `no one has proposed ${first.value}`
  const { task } = world.scene.algorithm
  if (task === 'broadcast' && world.isCorrect(0) && first.value !== inputs[0])
    return `process 0 has broadcast ${inputs[0]}, and ${first.value} was delivered`
  const everyoneIsCorrect = proposed.length === inputs.length
  if (everyoneIsCorrect && !proposed.includes(first.value)) return `no one has proposed ${first.value}`
  return undefined
}

/** True once all correct processes that are up have decided. */
export const isOver = (world: AgreementWorld): boolean =>
  world.processes.every(
    (_, process) => !world.up[process] || !world.isCorrect(process) || world.decisions[process]!.length > 0,
  )
