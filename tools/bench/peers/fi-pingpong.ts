import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { AetherError } from 'aether-dsm/internal/native'
import { type BenchRow, rowOfOthers } from '../row.ts'
import { endOnExit, endProgram } from './end-program.ts'
import { freePort } from './free-port.ts'

const run = promisify(execFile)
const INSTALL = 'on Debian: apt-get install libfabric-bin'
/** Messages between two processes of one machine through shared memory, without a connection, in order. */
const words = ['-p', 'shm', '-e', 'rdm', '-m', 'msg']
const ATTEMPTS = 5
const CONNECT_TRIES = 100
const RUN_MS_MAX = 60_000
const TRIAL_MESSAGES = 100
const MESSAGES_MAX = 1_000_000

/** How rows call it, with its version. @throws AetherError where it is not installed. */
export async function libfabricProvider(): Promise<string> {
  try {
    const { stdout } = await run('fi_info', ['--version'])
    await run('fi_pingpong', ['-h']).catch((error: NodeJS.ErrnoException) => {
      // It ends with 1 after its help.
      if (error.code === 'ENOENT') throw error
    })
    return `libfabric ${/^libfabric: ([\d.]+)/m.exec(stdout)?.[1] ?? ''}`.trimEnd()
  } catch (cause) {
    throw new AetherError('ERR_AETHER_BENCH', `the program fi_pingpong is not installed (${INSTALL})`, { cause })
  }
}

/**
 * Half of a round trip of its `shm` provider, for about `timeMs` after a trial: the mean, since it tells no median.
 * Both ends spin, in C. @throws AetherError where it fails.
 */
export async function libfabricRow(op: string, provider: string, bytes: number, timeMs: number): Promise<BenchRow> {
  const trialUs = await runPair(bytes, TRIAL_MESSAGES)
  const messages = Math.round((timeMs * 1000) / (2 * trialUs))
  const us = await runPair(bytes, Math.min(MESSAGES_MAX, Math.max(TRIAL_MESSAGES, messages)))
  return rowOfOthers(op, provider, bytes, { opsPerSec: 1e6 / us, p50Ns: null })
}

/** Microseconds of one message one way. */
async function runPair(bytes: number, messages: number): Promise<number> {
  let why = ''
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = String(await freePort())
    const plan = [...words, '-S', String(bytes), '-I', String(messages)]
    // If another program takes the port first, the server ends, and so does the client.
    const server = spawn('fi_pingpong', [...plan, '-B', port], { stdio: 'ignore' })
    using _server = endOnExit(server)
    try {
      return parsePingpong(await connected(server, [...plan, '-P', port, '127.0.0.1']))
    } catch (error) {
      why = error instanceof Error ? error.message : String(error)
    } finally {
      await endProgram(server)
    }
  }
  throw new AetherError('ERR_AETHER_BENCH', `fi_pingpong failed ${ATTEMPTS} times: ${why}`)
}

/** Standard output of a client, which is started again until the server listens. */
async function connected(server: ChildProcess, args: readonly string[]): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const client = run('fi_pingpong', args, { timeout: RUN_MS_MAX })
      using _client = endOnExit(client.child)
      const { stdout } = await client
      return stdout
    } catch (error) {
      const isRefused = String((error as { stderr?: string }).stderr).includes('onnection refused')
      if (!isRefused || attempt >= CONNECT_TRIES || server.exitCode !== null) throw error
      await sleep(20)
    }
  }
}

/**
 * Parses its table, which has one line of figures. They are bytes, sent, acknowledged, total, time, MB/s, µs for a
 * message one way, and millions of messages per second. @throws AetherError for anything else.
 */
export function parsePingpong(output: string): number {
  const [titles = '', figures = ''] = output.trim().split('\n')
  const at = titles.trim().split(/\s+/).indexOf('usec/xfer')
  const us = Number(figures.trim().split(/\s+/)[at])
  if (at >= 0 && us > 0) return us
  throw new AetherError('ERR_AETHER_BENCH', `fi_pingpong said no figures: ${output.trim().slice(-200)}`)
}
