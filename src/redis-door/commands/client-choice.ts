import { CommandFault, latin1Of } from '../../index-service/index.ts'
import type { DoorClient } from '../connection/client.ts'
import type { DoorServices } from '../door-services.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { integerOf, syntaxFault, wordOf } from './arguments.ts'

type Choice = (client: DoorClient) => boolean

const types = ['normal', 'master', 'replica', 'slave', 'pubsub'] as const

/** No client of a door is a master or a replica. @throws CommandFault */
export function clientsOfType(clients: Iterable<DoorClient>, type: string): DoorClient[] {
  return [...clients].filter(ofType(type))
}

function ofType(text: string): Choice {
  const type = types.find((each) => each === text.toLowerCase())
  if (type === undefined) throw new CommandFault(`Unknown client type '${text}'`)
  return ({ outputClass }) => outputClass === type
}

/** CLIENT KILL: by its address, or all that filters choose. */
export function killClients(door: DoorServices, self: DoorClient, args: readonly Uint8Array[]): DoorReply {
  const clients = [...door.clients]
  if (args.length === 1) {
    const address = latin1Of(args[0]!)
    const found = clients.find(({ line }) => line.address === address)
    if (found === undefined) throw new CommandFault('No such client')
    kill(found, self)
    return 'OK'
  }
  const { choices, skipsSelf } = choicesOf(door, args)
  const chosen = clients.filter((each) => choices.every((choice) => choice(each)))
  const killed = chosen.filter((each) => !(skipsSelf && each === self))
  for (const each of killed) kill(each, self)
  return killed.length
}

function choicesOf(
  door: DoorServices,
  args: readonly Uint8Array[],
): { readonly choices: readonly Choice[]; readonly skipsSelf: boolean } {
  if (args.length % 2 !== 0) throw syntaxFault()
  const choices: Choice[] = []
  let skipsSelf = true
  for (let at = 0; at < args.length; at += 2) {
    const [option, value] = [args[at]!, args[at + 1]!]
    if (wordOf(option, ['skipme']) === undefined) choices.push(choiceOf(door, option, value))
    else {
      const word = wordOf(value, ['yes', 'no'])
      if (word === undefined) throw syntaxFault()
      skipsSelf = word === 'yes'
    }
  }
  return { choices, skipsSelf }
}

function choiceOf(door: DoorServices, option: Uint8Array, value: Uint8Array): Choice {
  const text = latin1Of(value)
  switch (latin1Of(option).toLowerCase()) {
    case 'id': {
      const id = integerOf(value, 'client-id should be greater than 0')
      if (id < 1) throw new CommandFault('client-id should be greater than 0')
      return (client) => client.id === id
    }
    case 'addr':
      return ({ line }) => line.address === text
    case 'laddr':
      return ({ line }) => line.localAddress === text
    case 'type':
      return ofType(text)
    case 'user':
      if (door.users.get(text) === undefined) throw new CommandFault(`No such user '${text}'`)
      return ({ user }) => user.name === text
    default:
      throw syntaxFault()
  }
}

/** Its own connection ends when it has the answer. */
function kill(client: DoorClient, self: DoorClient): void {
  if (client === self) client.line.end()
  else client.line.destroy()
}
