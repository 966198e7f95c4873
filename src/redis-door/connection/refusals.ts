import { commandNamed, type FaultReply, faultOfCall, fitsArity, wrongArity } from '../../index-service/index.ts'
import { entryNamed } from '../catalogue/catalogue.ts'
import { subcommandFault } from '../catalogue/subcommand-fault.ts'
import type { DoorCommand } from '../commands/door-command.ts'
import { scriptMayWrite } from '../commands/scripting.ts'
import type { DoorServices } from '../door-services.ts'
import type { Request } from '../protocol/request.ts'
import type { DoorClient } from './client.ts'

/** Of an argument that the index takes. */
export const VALUE_BYTES_MAX: number = 4 * 2 ** 20
const TOO_LONG: FaultReply = {
  fault: 'ERR',
  message: `an argument has more than ${VALUE_BYTES_MAX} bytes, which is the most that the index takes: divide the value`,
}

interface Asked {
  readonly request: Request
  /** Undefined: it is for the index. */
  readonly command: DoorCommand | undefined
}

/** Why a request is not done, before its arguments are read. */
export function refusalOf(door: DoorServices, client: DoorClient, { request, command }: Asked): FaultReply | undefined {
  const { name, args } = request
  if (!client.isAuthenticated && command?.isOpen !== true)
    return { fault: 'NOAUTH', message: 'Authentication required.' }
  const fault = command === undefined ? faultOfIndex(name, args) : faultOfCommand(command, args)
  if (fault !== undefined) return fault
  if (request.isTooLong) return TOO_LONG
  const known = command?.name ?? commandNamed(name)!.name
  if (client.subscriptions > 0 && client.protocol === 2 && command?.isForSubscribers !== true)
    return onlyForOthers(known)
  const mayNot = client.user.mayAll ? undefined : door.users.refusal(client, known, args)
  if (mayNot !== undefined) return mayNot
  if (client.transaction !== undefined && command?.inTransaction === 'refused')
    return { fault: 'ERR', message: 'Command not allowed inside a transaction' }
  return undefined
}

function faultOfIndex(name: string, args: readonly Uint8Array[]): FaultReply | undefined {
  return faultOfCall(name, args) ?? subcommandFault(commandNamed(name)!.name, args)
}

function faultOfCommand(command: DoorCommand, args: readonly Uint8Array[]): FaultReply | undefined {
  return fitsArity(command, args.length) ? command.refusal?.(args) : wrongArity(command.name)
}

/** In RESP2, a client cannot tell messages from answers. */
function onlyForOthers(name: string): FaultReply {
  const message = `Can't execute '${name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context`
  return { fault: 'ERR', message }
}

/** An EXEC that is refused ends the transaction. */
export function aborted(client: DoorClient, { fault, message }: FaultReply): FaultReply {
  client.transaction = undefined
  client.watched.length = 0
  const why = fault === 'ERR' ? message : `${fault} ${message}`
  return { fault: 'EXECABORT', message: `Transaction discarded because of: ${why}` }
}

/** For CLIENT PAUSE: what the index writes, what is said to do so, and EXEC if one of its commands does. */
export function mayWrite(door: DoorServices, client: DoorClient, request: Request): boolean {
  if (request.name.toLowerCase() !== 'exec') return writes(door, request)
  return client.transaction?.requests.some((each) => writes(door, each)) === true
}

function writes(door: DoorServices, request: Request): boolean {
  const { name } = request
  if (commandNamed(name)?.isWrite === true || scriptMayWrite(door, request)) return true
  const flags = entryNamed(name.toLowerCase())?.flags
  return flags !== undefined && (flags.has('write') || flags.has('may_replicate'))
}
