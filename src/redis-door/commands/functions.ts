import { CommandFault, latin1Of } from '../../index-service/index.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import type { DoorCommand } from './door-command.ts'

/** There are no functions: what asks for all of them gets none, and what removes all of them has nothing to do. */
const answers: ReadonlyMap<string, DoorReply> = new Map<string, DoorReply>([
  ['flush', 'OK'],
  ['list', []],
])

/** FUNCTION. Scripts are what there is; see EVAL. */
export const functions: readonly DoorCommand[] = [
  {
    name: 'function',
    arity: -2,
    run: (_door, _client, [name]) => {
      const answer = answers.get(latin1Of(name!).toLowerCase())
      if (answer === undefined) throw new CommandFault('FUNCTION is not offered here; use EVAL, or EVALSHA')
      return answer
    },
  },
]
