import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { RecordedSession } from '../../src/dashboard/index.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { ask } from '../support/ask.ts'
import { aether } from './command-line.ts'

const directory = useRuntimeDirectory()
const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const ending = fileURLToPath(new URL('./fixtures/ending-rank.js', import.meta.url))
const waiting = fileURLToPath(new URL('./fixtures/waiting-rank.js', import.meta.url))
/** Processes are slow to start where the machine has other work. */
const PATIENCE_MS = 60_000
const file = join(directory, 'go-on')

const ends = [
  { what: 'when the ranks have ended', end: () => rmSync(file), status: 0 },
  { what: 'with the ranks that a signal ends', end: (child: Run['child']) => void child.kill('SIGTERM'), status: 143 },
]

for (const { what, end, status } of ends) {
  test(`run --dashboard shows the ranks to who has the token, and ends ${what}`, async () => {
    writeFileSync(file, '')
    const recorded = join(directory, `${status}.session`)
    const run = start('-n', '2', '--dashboard', '--record', recorded, waiting, file)
    try {
      await until(() => /open http.*\n/.test(run.stderr), 'the address is said', PATIENCE_MS)
      const [, address = ''] = /^aether: open (http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32,})$/m.exec(run.stderr) ?? []
      const url = new URL(address)
      const token = url.searchParams.get('token') ?? ''
      const port = Number(url.port)
      const headers = { Authorization: `Bearer ${token}` }
      assert.equal((await ask(port, '/')).status, 401)
      assert.equal((await ask(port, '/', { headers })).status, 200)

      const page = listen(url, headers)
      await until(() => run.stdout.split('here').length === 3, 'both ranks are there', PATIENCE_MS)
      const told = () => /"name":"grid"[^}]*"openAt":\[0,1\]/.test(page.text)
      await until(told, 'the page is told of the region of both', PATIENCE_MS)
      const { text } = await ask(port, '/metrics', { headers })
      assert.match(
        text,
        /^aether_dsm_pages_messages_sent_total\{space="run-[0-9a-f]{16}",rank="1",region="grid"\} \d+$/m,
      )

      end(run.child)
      await until(() => run.child.exitCode !== null || run.child.signalCode !== null, 'it ends', PATIENCE_MS)
      assert.equal((await run.ended)[0], status, run.stderr)
      await page.ended
      assert.match(logOf(recorded), /rank 0 (left|died).*rank 1 (left|died)|rank 1 (left|died).*rank 0 (left|died)/)
      assert.equal((run.stdout + run.stderr).split(token).length, 2, 'the token is said once')
    } finally {
      run.child.kill('SIGKILL')
      rmSync(file, { force: true })
    }
  })
}

test('run --dashboard has the status of its ranks, takes no word of the script, and is for one machine', () => {
  const failed = aether('run', '-n', '2', '--dashboard', ending, '1', 'exit', '7', '--linger')
  assert.equal(failed.status, 7, failed.stderr)
  const passed = aether('run', '--dashboard', '-n', '1', ending, 'none', '', '', '--dashboard')
  assert.equal(passed.status, 0, passed.stderr)
  assert.match(passed.stdout, /got \["--dashboard"\]/)
  const far = aether('run', '--hosts', 'a:1', '--dashboard', ending)
  assert.equal(far.status, 2)
  assert.match(far.stderr, /--dashboard is for one machine/)
})

interface Run {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  readonly stdout: string
  readonly stderr: string
  readonly ended: Promise<readonly (number | null)[]>
}

/** All lines of the log of a recording. */
function logOf(path: string): string {
  const session = RecordedSession.open(path)
  try {
    const messages = session.facts.parts.flatMap((_, number) => session.part(number)!.messages)
    return messages.flatMap(({ event, data }) => (event === 'frame' ? data.log.map(({ text }) => text) : [])).join()
  } finally {
    session.close()
  }
}

/** `aether run` with what it has said so far. */
function start(...args: readonly string[]): Run {
  const child = spawn(process.execPath, [main, 'run', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text))
  const ended = once(child, 'close') as Promise<(number | null)[]>
  return {
    child,
    ended,
    get stdout(): string {
      return said.stdout
    },
    get stderr(): string {
      return said.stderr
    },
  }
}

/** What a page hears, to its end. */
function listen(url: URL, headers: Readonly<Record<string, string>>): { readonly text: string; ended: Promise<void> } {
  let text = ''
  const ended = (async () => {
    const { body } = await fetch(new URL('/events', url), { headers })
    try {
      for await (const chunk of body!.pipeThrough(new TextDecoderStream())) text += chunk
    } catch {
      // Its connection was closed, which is an end, too.
    }
  })()
  return {
    ended,
    get text(): string {
      return text
    },
  }
}
