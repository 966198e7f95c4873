import { bytesOf, CommandFault, latin1Of, type ShardScratch } from '../../index-service/index.ts'
import type { DoorClient } from '../connection/client.ts'
import type { DoorServices } from '../door-services.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import type { TrackingOptions } from '../tracking/client-tracking.ts'
import { integerOf, syntaxFault, wordOf } from './arguments.ts'
import type { RunSubcommand } from './subcommands.ts'

const OFF_AND_ON = 'before disabling tracking for this client, and then re-enabling it with a different mode.'

interface Asked {
  readonly options: TrackingOptions
  readonly prefixes: readonly string[]
}

const tracking: RunSubcommand = (door, client, args) => {
  const [mode, ...rest] = args
  const { options, prefixes } = askedBy(door, rest)
  const isOn = wordOf(mode, ['on', 'off'])
  if (isOn === undefined) throw syntaxFault()
  if (isOn === 'off') {
    door.tracking.stop(client)
    return 'OK'
  }
  check(client, { options, prefixes })
  const all = options.isBroadcast && prefixes.length === 0 ? [''] : prefixes
  const started = door.tracking.start(client, options, all)
  return started === undefined ? 'OK' : started.then((): DoorReply => 'OK')
}

/** @throws CommandFault */
function askedBy({ clients }: DoorServices, args: readonly Uint8Array[]): Asked {
  let [redirect, isBroadcast, isIn, isOut, isNoLoop] = [0, false, false, false, false]
  const prefixes: string[] = []
  for (let at = 0; at < args.length; at += 1) {
    const word = wordOf(args[at], ['redirect', 'bcast', 'optin', 'optout', 'noloop', 'prefix'])
    const value = args[at + 1]
    if (word === 'bcast') isBroadcast = true
    else if (word === 'optin') isIn = true
    else if (word === 'optout') isOut = true
    else if (word === 'noloop') isNoLoop = true
    else if (word === undefined || value === undefined) throw syntaxFault()
    else {
      at += 1
      if (word === 'prefix') prefixes.push(latin1Of(value))
      else {
        if (redirect !== 0) throw new CommandFault('A client can only redirect to a single other client')
        redirect = integerOf(value)
        if (clients.get(redirect) === undefined)
          throw new CommandFault('The client ID you want redirect to does not exist')
      }
    }
  }
  if (isIn && isOut) throw new CommandFault("You can't specify both OPTIN mode and OPTOUT mode")
  return { options: { redirect, isBroadcast, isNoLoop, opts: isIn ? 'in' : isOut ? 'out' : undefined }, prefixes }
}

/** @throws CommandFault */
function check({ tracking: known }: DoorClient, { options, prefixes }: Asked): void {
  const { isBroadcast, opts } = options
  if (!isBroadcast && prefixes.length > 0) throw new CommandFault('PREFIX option requires BCAST mode to be enabled')
  if (known !== undefined && known.options.isBroadcast !== isBroadcast)
    throw new CommandFault(`You can't switch BCAST mode on/off ${OFF_AND_ON}`)
  if (isBroadcast && opts !== undefined) throw new CommandFault('OPTIN and OPTOUT are not compatible with BCAST')
  const before = known?.options.opts
  if (before !== undefined && opts !== undefined && before !== opts)
    throw new CommandFault(`You can't switch OPTIN/OPTOUT mode ${OFF_AND_ON}`)
  checkOverlaps(prefixes, known?.prefixes ?? new Set())
}

interface Prefix {
  readonly text: string
  /** It has it already. */
  readonly isKnown: boolean
  readonly at: number
}

/**
 * Sorted, those that begin with a prefix follow it. So it takes little time for many.
 * @throws CommandFault
 */
function checkOverlaps(prefixes: readonly string[], known: ReadonlySet<string>): void {
  const all: Prefix[] = [
    ...[...known].map((text) => ({ text, isKnown: true, at: -1 })),
    ...prefixes.map((text, at) => ({ text, isKnown: false, at })),
  ]
  all.sort((one, other) => (one.text < other.text ? -1 : one.text > other.text ? 1 : one.at - other.at))
  const around: Prefix[] = []
  for (const prefix of all) {
    while (around.length > 0 && !prefix.text.startsWith(around.at(-1)!.text)) around.pop()
    const outer = around.at(-1)
    if (outer !== undefined && !(outer.isKnown && prefix.isKnown)) {
      const [first, second] = outer.at < prefix.at ? [outer, prefix] : [prefix, outer]
      if (first.isKnown) throw overlapFault(second.text, 'an existing prefix', first.text)
      throw overlapFault(first.text, 'another provided prefix', second.text)
    }
    around.push(prefix)
  }
}

function overlapFault(prefix: string, which: string, other: string): CommandFault {
  return new CommandFault(
    `Prefix '${prefix}' overlaps with ${which} '${other}'. Prefixes for a single client must not overlap.`,
  )
}

const caching: RunSubcommand = (_door, { tracking: known }, args) => {
  if (known === undefined)
    throw new CommandFault(
      'CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled',
    )
  const word = wordOf(args[0], ['yes', 'no'])
  if (word === undefined) throw syntaxFault()
  const needed = word === 'yes' ? 'in' : 'out'
  if (known.options.opts !== needed)
    throw new CommandFault(
      `CLIENT CACHING ${word.toUpperCase()} is only valid when tracking is enabled in OPT${needed.toUpperCase()} mode.`,
    )
  known.isCachingSaid = true
  return 'OK'
}

const trackingInfo: RunSubcommand = (_door, client) => ({
  table: [
    ...[bytesOf('flags'), new Set(flagsOf(client).map(bytesOf))],
    ...[bytesOf('redirect'), client.tracking?.options.redirect ?? -1],
    ...[bytesOf('prefixes'), [...(client.tracking?.prefixes ?? [])].map(bytesOf)],
  ],
})

function flagsOf({ tracking: known }: DoorClient): readonly string[] {
  if (known === undefined) return ['off']
  const { isBroadcast, opts, isNoLoop } = known.options
  const saying = { in: ['optin', 'caching-yes'], out: ['optout', 'caching-no'] }
  return [
    'on',
    ...(isBroadcast ? ['bcast'] : []),
    ...(opts === undefined ? [] : saying[opts].slice(0, known.isCachingSaid ? 2 : 1)),
    ...(isNoLoop ? ['noloop'] : []),
    ...(known.isRedirectBroken ? ['broken_redirect'] : []),
  ]
}

/** Those of CLIENT that are about tracking. */
export const trackingSubcommands: Readonly<Record<string, RunSubcommand>> = {
  tracking,
  caching,
  trackinginfo: trackingInfo,
  getredir: (_door, client) => client.tracking?.options.redirect ?? -1,
}

interface ScriptRun {
  readonly door: DoorServices
  readonly client: DoorClient
  readonly scratch: ShardScratch
  /** Those that the script names. */
  readonly keys: readonly Uint8Array[]
}

/** Run a script. As in Redis, all keys that it names are tracked if it reads any. */
export function trackedRun<T>({ door, client, scratch, keys }: ScriptRun, run: () => T): T {
  if (client.tracking === undefined) return run()
  const { reads } = scratch
  scratch.origin = client.tracking.origin
  try {
    return run()
  } finally {
    scratch.origin = undefined
    if (scratch.reads > reads) door.tracking.read(client, keys)
  }
}
