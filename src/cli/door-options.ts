import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { IndexNode } from '../index-service/index.ts'
import { ArgumentError, messageOfThrown } from '../native/index.ts'
import { type DoorSettings, RedisDoor } from '../redis-door/index.ts'
import { integerOption } from './options.ts'
import { UsageError } from './usage-error.ts'

/** Options of `aether serve` about clients of Redis. */
export const doorOptions: {
  readonly port: { readonly type: 'string' }
  readonly bind: { readonly type: 'string' }
  readonly 'password-file': { readonly type: 'string' }
  readonly 'tls-cert': { readonly type: 'string' }
  readonly 'tls-key': { readonly type: 'string' }
  readonly 'tls-ca': { readonly type: 'string' }
  readonly maxclients: { readonly type: 'string' }
  readonly 'io-threads': { readonly type: 'string' }
  readonly cluster: { readonly type: 'boolean' }
  readonly announce: { readonly type: 'string' }
} = {
  port: { type: 'string' },
  bind: { type: 'string' },
  'password-file': { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  'tls-ca': { type: 'string' },
  maxclients: { type: 'string' },
  'io-threads': { type: 'string' },
  cluster: { type: 'boolean' },
  announce: { type: 'string' },
}

/** Values of them, as they were written. */
type DoorValues = { readonly [Name in keyof typeof doorOptions]?: string | boolean | undefined }

export const doorHelp: string = `Clients of Redis:
  --port N           take clients of Redis on this port; Redis' own is 6379
  --bind ADDRESS     the address of this machine on which they come (default 127.0.0.1; 0.0.0.0: all)
  --password-file F  the password of user 'default' is the first line of F; further users come by ACL SETUSER
  --tls-cert F       encrypt connections: the certificate, in PEM, and what follows it up to its issuer
  --tls-key F        its private key, in PEM
  --tls-ca F         take only clients with a certificate of these issuers, in PEM
  --maxclients N     refuse more connections than this (default 10000)
  --io-threads N     send replies on N threads, as Redis does; worth it with many clients and 4 processors or more
                     (default 1; encrypted connections have one)
  --cluster          let clients know the nodes, as those of a Redis Cluster: they go to the leader of a key's shard
  --announce HOST    the address by which clients come here from other nodes (default: that of --bind)`

const LOCAL = '127.0.0.1'
const TIMEOUT_MS = 30_000

/** What only this process knows. */
interface DoorPlace {
  readonly hasDirectory: boolean
  readonly onShutdown: () => void
}

/** What a door is to be opened with; undefined if there is to be none. @throws ArgumentError, UsageError */
export function doorSettingsOf(values: DoorValues, { hasDirectory, onShutdown }: DoorPlace): DoorSettings | undefined {
  const given = Object.keys(doorOptions).filter((name) => values[name as keyof DoorValues] !== undefined)
  if (values.port === undefined) {
    const [first] = given
    if (first !== undefined) throw new UsageError(`--${first} is about clients of Redis: add --port 6379`, 'serve')
    return undefined
  }
  const text = (name: keyof DoorValues): string | undefined => values[name] as string | undefined
  const address = text('bind') ?? LOCAL
  return {
    ...{ address, announce: text('announce') ?? address, timeoutMs: TIMEOUT_MS, hasDirectory, onShutdown },
    port: integerOption('serve', '--port', text('port')!, 0, 65_535),
    password: passwordOf(text('password-file')),
    clientsMax: integerOption('serve', '--maxclients', text('maxclients') ?? '10000', 1, 1_000_000),
    ioThreads: integerOption('serve', '--io-threads', text('io-threads') ?? '1', 1, 128),
    tls: tlsOf(text('tls-cert'), text('tls-key'), text('tls-ca')),
    isCluster: values.cluster === true,
  }
}

/** @throws ArgumentError if it cannot listen there. */
export async function openDoor(node: IndexNode, settings: DoorSettings | undefined): Promise<RedisDoor | undefined> {
  if (settings === undefined) return undefined
  const { port, address } = settings
  try {
    return await RedisDoor.open(node, settings)
  } catch (error) {
    const { code, errnoName = code } = error as { readonly code?: string; readonly errnoName?: string }
    if (errnoName === 'EADDRINUSE')
      throw new ArgumentError('--port', `port ${port} of ${address} is in use: pass another one by --port`)
    if (errnoName === 'EACCES')
      throw new ArgumentError('--port', `port ${port} is for root alone: pass one above 1023 by --port`)
    if (errnoName === 'EADDRNOTAVAIL' || errnoName === 'ENOTFOUND')
      throw new ArgumentError('--bind', `this machine has no address ${address}: pass one that it has by --bind`)
    throw error
  }
}

/** What is said of a door that is open. */
export function doorLines({ address, password, tls }: DoorSettings, port: number): readonly string[] {
  const place = address.includes(':') ? `[${address}]` : address
  const isOpen = password === undefined && tls?.ca === undefined && !/^(127\.|::1$|localhost$)/.test(address)
  return [
    `clients of Redis: ${tls === undefined ? 'redis' : 'rediss'}://${place}:${port}`,
    ...(isOpen
      ? [`anyone who reaches ${place}:${port} may read and write everything: set a password by --password-file`]
      : []),
  ]
}

function passwordOf(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  const [password] = read('--password-file', file).toString('latin1').split(/\r?\n/)
  if (password === '')
    throw new ArgumentError('--password-file', `the first line of ${file} is empty: write the password there`)
  return password
}

function tlsOf(
  certFile: string | undefined,
  keyFile: string | undefined,
  caFile: string | undefined,
): DoorSettings['tls'] {
  if (certFile === undefined && keyFile === undefined && caFile === undefined) return undefined
  if (certFile === undefined) throw new UsageError('TLS needs a certificate: add --tls-cert', 'serve')
  if (keyFile === undefined) throw new UsageError('TLS needs the key of the certificate: add --tls-key', 'serve')
  const tls = {
    cert: read('--tls-cert', certFile),
    key: read('--tls-key', keyFile),
    ca: caFile === undefined ? undefined : read('--tls-ca', caFile),
  }
  try {
    createSecureContext(tls)
  } catch (error) {
    const what = `${certFile} and ${keyFile} are not a certificate and its key in PEM (${messageOfThrown(error)})`
    throw new ArgumentError('--tls-cert', what)
  }
  return tls
}

function read(option: string, file: string): Buffer {
  try {
    return Buffer.from(readFileSync(file))
  } catch (error) {
    throw new ArgumentError(option, `${option} cannot be read: ${messageOfThrown(error)}`)
  }
}
