import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { AetherError } from 'aether-dsm/internal/native'
import { endOnExit, endProgram } from './end-program.ts'
import { freePort } from './free-port.ts'

/** What it measures: half of a round trip, or messages one way. */
export type UcxTest = 'tag_lat' | 'tag_bw'

/** What it says of one test. */
export interface UcxResult {
  /** Median of half a round trip; null for messages one way, where only the mean is meant. */
  readonly p50Ns: number | null
  readonly opsPerSec: number
}

const run = promisify(execFile)
const INSTALL = 'on Debian: apt-get install ucx-utils'
/** What it goes over, and nothing else. */
export type UcxTransport = 'memory' | 'tcp'
const transports: Readonly<Record<UcxTransport, NodeJS.ProcessEnv>> = {
  memory: { UCX_TLS: 'posix,sysv,cma,self' },
  tcp: { UCX_TLS: 'tcp,self', UCX_NET_DEVICES: 'lo' },
}

function environmentOf(transport: UcxTransport): NodeJS.ProcessEnv {
  return { ...process.env, ...transports[transport], UCX_LOG_LEVEL: 'error' }
}
const ATTEMPTS = 5
const CONNECT_TRIES = 100
const RUN_MS_MAX = 60_000
const TRIAL_MESSAGES = 200
const MESSAGES_MIN = 100
const MESSAGES_MAX = 10_000_000

/** How rows call it, with its version. @throws AetherError where it is not installed. */
export async function ucxProvider(): Promise<string> {
  try {
    const { stdout } = await run('ucx_info', ['-v'])
    await run('ucx_perftest', ['-h']).catch((error: NodeJS.ErrnoException) => {
      // It ends with 255 after its help.
      if (error.code === 'ENOENT') throw error
    })
    return `UCX ${/Version ([\d.]+)/.exec(stdout)?.[1] ?? ''}`.trimEnd()
  } catch (cause) {
    throw new AetherError('ERR_AETHER_BENCH', `the program ucx_perftest is not installed (${INSTALL})`, { cause })
  }
}

/**
 * For about `timeMs`, after a trial that tells how many messages these are. Both ends spin. @throws AetherError where
 * it fails.
 */
export async function measureUcx(
  test: UcxTest,
  bytes: number,
  timeMs: number,
  transport: UcxTransport = 'memory',
): Promise<UcxResult> {
  const env = environmentOf(transport)
  const trial = await runPair(test, bytes, TRIAL_MESSAGES, env)
  // The rate of round trips is half of that of messages.
  const perSecond = test === 'tag_lat' ? trial.opsPerSec / 2 : trial.opsPerSec
  const messages = Math.round((perSecond * timeMs) / 1000)
  return await runPair(test, bytes, Math.min(MESSAGES_MAX, Math.max(MESSAGES_MIN, messages)), env)
}

async function runPair(test: UcxTest, bytes: number, messages: number, env: NodeJS.ProcessEnv): Promise<UcxResult> {
  let why = ''
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = String(await freePort())
    // If another program takes the port first, the server ends, and so does the client.
    const server = spawn('ucx_perftest', ['-p', port], { env, stdio: 'ignore' })
    using _server = endOnExit(server)
    try {
      const warm = String(Math.min(1000, Math.ceil(messages / 10)))
      const words = ['127.0.0.1', '-p', port, '-t', test, '-s', String(bytes), '-n', String(messages), '-w', warm, '-v']
      return parseUcx(test, await connected(server, words, env))
    } catch (error) {
      why = error instanceof Error ? error.message : String(error)
    } finally {
      await endProgram(server)
    }
  }
  throw new AetherError('ERR_AETHER_BENCH', `ucx_perftest failed ${ATTEMPTS} times: ${why}`)
}

/** Standard output of a client, which is started again until the server listens. */
async function connected(server: ChildProcess, words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const client = run('ucx_perftest', words, { env, timeout: RUN_MS_MAX })
      using _client = endOnExit(client.child)
      const { stdout } = await client
      return stdout
    } catch (error) {
      const isRefused = `${(error as { stdout?: string }).stdout}${(error as { stderr?: string }).stderr}`.includes(
        'onnection refused',
      )
      if (!isRefused || attempt >= CONNECT_TRIES || server.exitCode !== null) throw error
      await sleep(20)
    }
  }
}

/**
 * Parses the last line of its CSV, which is about all messages. Lines that it prints while it runs start with the
 * thread. The fields are iterations; percentile, average and overall latency in µs; average and overall bandwidth in
 * MB/s; average and overall messages per second.
 */
export function parseUcx(test: UcxTest, output: string): UcxResult {
  const line = output.split('\n').findLast((each) => /^ *\d/.test(each))
  const fields = line?.split(',').map(Number) ?? []
  const [, percentileUs, , overallUs, , , , rate] = fields
  if (fields.length !== 8 || !fields.every(Number.isFinite) || !(overallUs! > 0))
    throw new AetherError('ERR_AETHER_BENCH', `ucx_perftest said no figures: ${output.trim().slice(-200)}`)
  if (test === 'tag_bw') return { p50Ns: null, opsPerSec: rate! }
  return { p50Ns: percentileUs! * 1000, opsPerSec: 1e6 / overallUs! }
}
