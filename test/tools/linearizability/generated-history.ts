import { Random } from '../../../src/runtime/index.ts'
import type { DeterministicModel, HistoryCall } from '../../../tools/linearizability/index.ts'

/** What clients do, see {@link generateHistory}. */
export interface Workload<State, Input, Output> {
  readonly model: DeterministicModel<State, Input, Output>
  readonly clients: number
  /** Of each client. */
  readonly calls: number
  /** One call of so many never returns; every second of these takes effect. */
  readonly lostOneIn: number
  readonly seed: number
  /** `number` is another one for each call, from 1. */
  draw(random: Random, number: number): Input
}

interface DrawnCall<Input, Output> {
  readonly input: Input
  readonly calledAt: number
  /** Infinity where it never takes effect. */
  readonly effectAt: number
  readonly returnsAt: number | undefined
  output: Output | undefined
}

/** Calls of clients that each make one after the other, to an object that takes one after the other. */
export function generateHistory<State, Input, Output>(
  workload: Workload<State, Input, Output>,
): HistoryCall<Input, Output>[] {
  const random = new Random(workload.seed)
  const drawn = drawCalls(workload, random)
  let state = workload.model.initial
  for (const call of drawn.toSorted((a, b) => a.effectAt - b.effectAt)) {
    if (call.effectAt === Infinity) break
    const [after, output] = workload.model.apply(state, call.input)
    state = after
    call.output = output
  }
  return drawn
    .toSorted((a, b) => a.calledAt - b.calledAt)
    .map(({ input, calledAt, returnsAt, output }) => ({
      input,
      calledAt,
      returned: returnsAt === undefined ? undefined : { at: returnsAt, output: output as Output },
    }))
}

function drawCalls<State, Input, Output>(
  { clients, calls, lostOneIn, draw }: Workload<State, Input, Output>,
  random: Random,
): DrawnCall<Input, Output>[] {
  const drawn: DrawnCall<Input, Output>[] = []
  for (let client = 0; client < clients; client += 1) {
    let now = random.below(1000)
    for (let call = 0; call < calls; call += 1) {
      const calledAt = now + random.below(100)
      const effectAt = calledAt + 1 + random.below(1000)
      const returnsAt = effectAt + 1 + random.below(1000)
      const isLost = random.below(lostOneIn) === 0
      const input = draw(random, drawn.length + 1)
      drawn.push({
        input,
        calledAt,
        effectAt: isLost && random.below(2) === 0 ? Infinity : effectAt,
        returnsAt: isLost ? undefined : returnsAt,
        output: undefined,
      })
      now = returnsAt
    }
  }
  return drawn
}
