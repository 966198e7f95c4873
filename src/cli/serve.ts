import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type JoinOptions, MissingMembersError } from '../cluster/index.ts'
import { APPEND_POLICIES } from '../consensus/index.ts'
import { join as joinGroup, parseSize, type RegionGroup } from '../dsm/index.ts'
import { EVICTION_POLICIES, type IndexNode, openNode } from '../index-service/index.ts'
import { ArgumentError, messageOfThrown } from '../native/index.ts'
import { type Command, ExitCode } from './command.ts'
import { doorHelp, doorLines, doorOptions, doorSettingsOf, openDoor } from './door-options.ts'
import { endingSignals } from './interruption.ts'
import { integerOption, parseOptions } from './options.ts'

const table = {
  replicas: { type: 'string', default: '1' },
  shards: { type: 'string', default: '1' },
  directory: { type: 'string' },
  append: { type: 'string', default: 'always' },
  memory: { type: 'string', default: '1GiB' },
  policy: { type: 'string', default: 'noeviction' },
  listen: { type: 'string' },
  'slow-ms': { type: 'string', default: '10' },
  seeds: { type: 'string' },
  'secret-file': { type: 'string' },
  ...doorOptions,
} as const

const DEFAULT_NAME = 'index'

const help = `Usage: aether serve [NAME] [options]

Serves an index: data by key, for all processes of this machine, and of others with --listen. Programs come by
connectIndex('NAME'). NAME is 'index' if you leave it out.

Start it several times with the same NAME and --replicas 3: the index begins when three processes are there, and
outlives any one of them. Further ones follow, and one of them takes the place of a replica that ends. On several
machines, give all of them the same --seeds.

Options:
  --replicas N       how many processes vote, an odd number (default 1)
  --shards N         parts that the keys are divided into, each held by as many processes (default 1)
  --directory D      keep the log there, so that nothing is lost when all end; a directory of its own for each process
  --append A         when the disk has a write: always (before it is answered), everysec, no (when the kernel does it);
                     the latter two for --replicas 1. No death of processes loses a write, an end of the machine may
  --memory SIZE      bytes that keys and values may take: 512MiB, 4GiB (default 1GiB)
  --policy P         which keys go when the memory is full: noeviction (none; writes are refused), allkeys-lru,
                     allkeys-lfu, allkeys-random, volatile-lru, volatile-lfu, volatile-random, volatile-ttl; as in Redis
  --seeds A:P,B:P    addresses at which the processes of several machines meet: one of each machine, the same for all.
                     The index can begin when each of these machines is up, whether or not it serves
  --secret-file F    the secret that they show each other (default AETHER_SECRET_FILE); the same file everywhere
  --slow-ms N        calls that take N milliseconds or longer are noted, for 'aether index slow' (default 10)
  --listen HOST:PORT take clients of other machines there (default with --seeds: any free port)

${doorHelp}

It ends with Ctrl-C.

Exit status: 0 ended by a signal; 1 it could not begin, or its part is over; 2 the command line is invalid.

Examples:
  aether serve
  aether serve users --replicas 3 --directory /var/lib/users-1
  aether serve cache --memory 4GiB --policy allkeys-lru --port 6379
  aether serve users --memory 4GiB --listen 10.0.0.1:7500
  aether serve users --port 6379 --bind 0.0.0.0 --password-file /etc/users.password
  aether serve users --port 6379 --tls-cert cert.pem --tls-key key.pem
  aether serve users --replicas 3 --seeds a:7471,b:7471,c:7471 --secret-file /etc/users.secret --listen a:7500`

/** How often it looks whether the leader has changed. */
const LOOK_MS = 200
/** How long it tries to join before it says why that takes so long. */
const JOIN_MS = 10_000

/** `aether serve`. */
export const serveCommand: Command = {
  help,
  options: table,
  operands: [],

  async run(args) {
    const { values, positionals } = parseOptions('serve', args, table, 1)
    const [name = DEFAULT_NAME] = positionals
    const replicas = integerOption('serve', '--replicas', values.replicas, 1, 7)
    if (replicas % 2 === 0) throw new ArgumentError('--replicas', `--replicas must be odd, not ${replicas}`)
    const shards = integerOption('serve', '--shards', values.shards, 1, 256)
    const memoryBytes = parseSize(values.memory as `${number}MiB`, '--memory')
    const slowMs = integerOption('serve', '--slow-ms', values['slow-ms'], 0, 3_600_000)
    const { directory, listen, seeds, 'secret-file': secretFile } = values
    const policy = oneOf('--policy', values.policy, EVICTION_POLICIES)
    const append = oneOf('--append', values.append, APPEND_POLICIES)
    if (append !== 'always' && (replicas > 1 || directory === undefined))
      throw new ArgumentError('--append', `--append ${append} is for --replicas 1 with a --directory`)
    const stop = new AbortController()
    const settings = doorSettingsOf(values, { hasDirectory: directory !== undefined, onShutdown: () => stop.abort() })
    for (const signal of endingSignals) process.on(signal, () => stop.abort())
    const { signal } = stop
    const say = (text: string): void => void process.stdout.write(`${text}\n`)
    const isLaunched = process.env['AETHER_RANK'] !== undefined
    if (isLaunched && seeds !== undefined)
      throw new ArgumentError('--seeds', "--seeds is for processes that 'aether run' has not started")
    const address = { ...(seeds && { seeds: seeds.split(',') }), ...(secretFile && { secretFile }) }
    const joined = isLaunched
      ? await joinGroup()
      : await joinPatiently({ name: `index-${name}`, ...address }, signal, say)
    if (joined === undefined) return ExitCode.Done
    await using group = joined
    if (replicas > 1) say(`index '${name}': waiting for ${replicas} processes; this is ${process.pid}`)
    const opened = await openNode(group, {
      name,
      replicas,
      shards,
      memoryBytes,
      policy,
      append,
      thread: 'program',
      slowMs,
      signal,
      timeoutMs: Number.POSITIVE_INFINITY,
      ...(directory === undefined ? {} : { directory }),
      ...(listen === undefined ? {} : { listen }),
    }).catch((error: unknown) => {
      if (signal.aborted) return undefined
      throw error
    })
    if (opened === undefined) return ExitCode.Done
    await using node = opened
    await using door = await openDoor(node, settings)
    if (door !== undefined) for (const line of doorLines(settings!, door.port)) say(line)
    const beyond = node.beyond === undefined ? '' : `, for other machines at ${node.beyond.address}:${node.beyond.port}`
    say(`serving index '${name}' (process ${process.pid})${beyond}; connectIndex('${name}')`)
    let shown = ''
    while (!signal.aborted) {
      const now = partOf(node)
      if (now !== shown) say(now)
      shown = now
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
    }
    return ExitCode.Done
  },
}

/** A process that cannot join yet says why, and tries on. Undefined once it was to end. */
async function joinPatiently(
  options: JoinOptions,
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<RegionGroup | undefined> {
  for (let said = ''; ; ) {
    try {
      return await joinGroup({ ...options, signal, timeoutMs: JOIN_MS })
    } catch (error) {
      if (signal.aborted) return undefined
      if (!(error instanceof MissingMembersError)) throw error
      if (error.message !== said) say(`waiting: ${error.message}`)
      said = error.message
    }
  }
}

/** @throws ArgumentError */
function oneOf<T extends string>(option: string, given: string, known: readonly T[]): T {
  const found = known.find((each) => each === given)
  if (found !== undefined) return found
  throw new ArgumentError(option, `${option} is one of ${known.join(', ')}, not '${given}'`)
}

/** What a node does, in a line. */
function partOf({ held, rank, shards, failures }: IndexNode): string {
  const [failed] = failures.values()
  if (failed !== undefined) return `cannot hold ${failures.size} of ${shards} shards: ${messageOfThrown(failed)}`
  const leads = [...held.values()].filter(({ leader }) => leader === rank).length
  if (shards === 1) return leads === 1 ? 'leads' : held.size === 1 ? 'follows' : 'holds nothing'
  return `holds ${held.size} of ${shards} shards, leads ${leads}`
}
