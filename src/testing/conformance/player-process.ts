/** The program of a player in a process of its own. Calls arrive by IPC; each gets one answer, in order. */
import { LocalPlayer } from './local-player.ts'
import { errorFacts, type PlayerErrorFacts, type PlayerMethod } from './player.ts'

export interface PlayerCall {
  readonly id: number
  readonly method: PlayerMethod
  readonly values: readonly unknown[]
}

export type PlayerAnswer = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: PlayerErrorFacts }
)

const player = new LocalPlayer()

async function answer(call: PlayerCall): Promise<PlayerAnswer> {
  try {
    const method = player[call.method] as (...values: readonly unknown[]) => Promise<unknown>
    return { id: call.id, value: await method.apply(player, [...call.values]) }
  } catch (error) {
    return { id: call.id, error: errorFacts(error) }
  }
}

process.on('message', (call: PlayerCall) => {
  void answer(call).then((reply) => process.send?.(reply))
})
// The parent ended: no more calls will come.
process.on('disconnect', () => process.exit(0))
