import { CommandFault, commandNamed, type FaultReply, latin1Of } from '../../index-service/index.ts'
import { entryNamed, entryOfCall } from '../catalogue/catalogue.ts'
import { keyUses } from '../catalogue/key-uses.ts'
import type { DoorClient } from '../connection/client.ts'
import { clientLine } from '../connection/client-line.ts'
import type { DoorParameters } from '../settings/door-parameters.ts'
import { RefusalLog } from './refusal-log.ts'
import type { Refused, Wish } from './selector.ts'
import { DoorUser } from './user.ts'

const DEFAULT = 'default'
const EVERYTHING = ['on', 'nopass', 'allcommands', 'allkeys', 'allchannels']

/** Commands whose arguments are channels: from the first one on, or that one alone. */
const ofChannels: ReadonlyMap<string, 'all' | 'first' | 'patterns'> = new Map([
  ['subscribe', 'all'],
  ['ssubscribe', 'all'],
  ['psubscribe', 'patterns'],
  ['publish', 'first'],
  ['spublish', 'first'],
])

/** The users of a door, and what was refused to them. */
export class DoorUsers {
  readonly log: RefusalLog = new RefusalLog()
  readonly #parameters: DoorParameters
  readonly #byName = new Map<string, DoorUser>()

  constructor(parameters: DoorParameters) {
    this.#parameters = parameters
    this.#byName.set(DEFAULT, new DoorUser(DEFAULT))
    this.default.change(EVERYTHING)
    const setPassword = (): void => this.#setPassword(parameters.get('requirepass')!)
    setPassword()
    parameters.onChanged((name) => {
      if (name === 'requirepass') setPassword()
    })
  }

  get default(): DoorUser {
    return this.#byName.get(DEFAULT)!
  }

  /** Clients need not say who they are. */
  get isOpen(): boolean {
    return this.default.isEnabled && this.default.needsNoPassword
  }

  [Symbol.iterator](): Iterator<DoorUser> {
    return this.#byName.values()
  }

  get(name: string): DoorUser | undefined {
    return this.#byName.get(name)
  }

  /** A user that is not there yet begins with nothing. @throws CommandFault */
  change(name: string, rules: readonly string[]): void {
    const user = this.#byName.get(name) ?? this.#created(name)
    user.change(rules)
    this.#byName.set(name, user)
  }

  delete(name: string): boolean {
    return this.#byName.delete(name)
  }

  /** @throws CommandFault */
  authenticate(client: DoorClient, name: string, password: string): void {
    const user = this.#byName.get(name)
    // What does not exist takes as long as what does.
    const isPassword = (user ?? this.default).isPassword(password)
    if (user === undefined || !user.isEnabled || !isPassword) {
      this.#note(client, { reason: 'auth', object: client.lastCommand.toUpperCase() }, name)
      throw new CommandFault('invalid username-password pair or user is disabled.', 'WRONGPASS')
    }
    client.user = user
    client.isAuthenticated = true
  }

  /** Why a client may not do something. */
  refusal(client: DoorClient, name: string, args: readonly Uint8Array[]): FaultReply | undefined {
    const refused = refusedTo(client, name, args)
    if (refused === undefined) return undefined
    this.#note(client, refused, client.user.name)
    return { fault: 'NOPERM', message: messageOf(refused) }
  }

  /** What scripts of a client may do: what the client may. */
  rightsOf(client: DoorClient): ScriptRights {
    return {
      may: (name, args) => refusedTo(client, name, args) === undefined,
      refusal: (name, args) => {
        const refused = refusedTo(client, name, args)
        if (refused === undefined) return undefined
        this.#note(client, refused, client.user.name, 'lua')
        return { fault: 'ERR', message: `The user executing the script ${inScript[refused.reason] ?? ''}` }
      },
    }
  }

  #created(name: string): DoorUser {
    const user = new DoorUser(name)
    if (this.#parameters.get('acl-pubsub-default') === 'allchannels') user.change(['allchannels'])
    return user
  }

  #setPassword(password: string): void {
    this.default.change(password === '' ? ['nopass'] : ['resetpass', `>${password}`])
  }

  #note(client: DoorClient, refused: Refused, user: string, where?: 'lua'): void {
    const context = where ?? (client.transaction === undefined ? 'toplevel' : 'multi')
    const max = Number(this.#parameters.get('acllog-max-len'))
    this.log.add({ ...refused, context, user, client: clientLine(client) }, max)
  }
}

/** What a script may do for its client. */
export interface ScriptRights {
  may(name: string, args: readonly Uint8Array[]): boolean
  /** Why not; undefined if it may. It is noted in the log. */
  refusal(name: string, args: readonly Uint8Array[]): FaultReply | undefined
}

function refusedTo({ user }: DoorClient, name: string, args: readonly Uint8Array[]): Refused | undefined {
  if (user.mayAll) return undefined
  const wish = wishOf(name, args)
  return wish && user.refuses(wish)
}

/** Of what kind it is, as Redis words it. */
const inScript: Readonly<Record<string, string>> = {
  command: "can't run this command or subcommand",
  key: "can't access at least one of the keys mentioned in the command arguments",
  channel: "can't publish to the channel mentioned in the command",
}

/** Undefined: nothing is known of such a command. */
export function wishOf(name: string, args: readonly Uint8Array[]): Wish | undefined {
  const known = entryNamed(name)
  if (known === undefined) return undefined
  const first = args[0] === undefined ? undefined : latin1Of(args[0].subarray(0, FIRST_BYTES_MAX)).toLowerCase()
  const which = ofChannels.get(name)
  const channels = which === undefined ? [] : which === 'first' ? args.slice(0, 1) : args
  return {
    entry: entryOfCall(known, first),
    firstArgument: first,
    keys: keyUses(known, commandNamed(name), args),
    channels: channels.map(latin1Of),
    arePatterns: which === 'patterns',
  }
}

const FIRST_BYTES_MAX = 64

function messageOf({ reason, object }: Refused): string {
  if (reason === 'command') return `this user has no permissions to run the '${object}' command`
  return `this user has no permissions to access one of the ${reason}s used as arguments`
}
