/** Programs that write by clients of Redis which are processes of their own: redis-cli and python3-redis. */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientProgram, OpenProgram } from './client-programs.ts'
import { pythonWithRedis } from './debian-programs.ts'

/** redis-cli tells of a lost connection elsewhere than where its answers are. */
const CLI_ANSWER_MS_MAX = 1000
/** RedisCluster tries a node that is gone for more than a second before it asks another one for the slots. */
const PYTHON_ANSWER_MS_MAX = 8000

/** A child that answers lines, each of which has a number of its own. */
class LineChild {
  readonly #child: ChildProcess
  #said = ''

  constructor(program: string, ...args: readonly (string | number)[]) {
    this.#child = spawn(program, args.map(String), { stdio: ['pipe', 'pipe', 'ignore'] })
    this.#child.stdin!.on('error', () => undefined)
    this.#child.stdout!.on('data', (text) => (this.#said += String(text)))
  }

  /** Resolves when a line is what is expected. @throws Error if it failed, or none is in time. */
  async ask(line: string, expected: string, answerMsMax: number): Promise<void> {
    this.#said = ''
    this.#child.stdin!.write(`${line}\n`)
    for (const start = performance.now(); ; await sleep(1)) {
      const lines = this.#said.split('\n').slice(0, -1)
      if (lines.includes(expected)) return
      const failed = lines.find((each) => each.startsWith(`${expected} failed`))
      if (failed !== undefined) throw new Error(failed)
      if (performance.now() - start > answerMsMax) throw new Error(`no answer but ${this.#said}`)
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}

/** What it is answered is the number of the line, so that no answer is taken for another one. */
function cli(isStartedAgain: boolean, ...args: readonly (string | number)[]): ClientProgram {
  let child = new LineChild('redis-cli', ...args)
  return {
    async write(at) {
      try {
        await child.ask(`INCRBY cli:${at} ${at}`, String(at), CLI_ANSWER_MS_MAX)
      } catch (error) {
        if (isStartedAgain) {
          child.kill()
          child = new LineChild('redis-cli', ...args)
        }
        throw error
      }
      return `cli:${at}`
    },
    close: () => child.kill(),
  }
}

/** It connects again for the next line. */
export const cliProgram: OpenProgram = async ([port]) => cli(false, '-p', port!)

/** It stays where MOVED has sent it, whether that node lives or not. So it is started again, at one that does. */
export const cliClusterProgram: OpenProgram = async (ports) => cli(true, '-c', '-p', ports.at(-1)!)

/**
 * Sets keys of the numbers that it is given, and answers with these. RedisCluster of 4.3.4, which Debian 12 has, cannot
 * ask for the slots again once a node is gone. It says so by an exception that is not a RedisError, so it is opened
 * again.
 */
const PYTHON = `
import sys, redis
from redis.backoff import ExponentialBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import RedisClusterException
from redis.retry import Retry
ports = [int(port) for port in sys.argv[2:]]
def connect():
    if sys.argv[1] == 'cluster':
        return RedisCluster(startup_nodes=[ClusterNode('127.0.0.1', port) for port in ports])
    errors = [redis.ConnectionError, redis.TimeoutError]
    return redis.Redis(port=ports[0], retry=Retry(ExponentialBackoff(cap=0.2, base=0.02), 10), retry_on_error=errors)
r = connect()
for line in sys.stdin:
    at = line.strip()
    try:
        if r is None: r = connect()
        r.set('python:' + at, at)
        print(at, flush=True)
    except RedisClusterException as error:
        r = None
        print(at, 'failed', repr(error), flush=True)
    except (redis.RedisError, OSError) as error:
        print(at, 'failed', repr(error), flush=True)
`

const python =
  (kind: 'plain' | 'cluster'): OpenProgram =>
  async (ports) => {
    const child = new LineChild(pythonWithRedis!, '-c', PYTHON, kind, ...ports)
    return {
      async write(at) {
        await child.ask(String(at), String(at), PYTHON_ANSWER_MS_MAX)
        return `python:${at}`
      },
      close: () => child.kill(),
    }
  }

export const pythonProgram: OpenProgram = python('plain')
export const pythonClusterProgram: OpenProgram = python('cluster')
