/** Bare verbs and connections over shared memory between pid namespaces, as containers have them: typed refusals. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import type { RemoteEndpoint } from '../../src/verbs/index.ts'
import { RankProcess } from '../support/rank-process.ts'

const scratch = mkdtempSync(join(tmpdir(), 'aether-apart-'))
after(() => rmSync(scratch, { recursive: true, force: true }))
const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
const namespace = ['unshare', ...user, '--pid', '--fork', '--mount-proc', '--kill-child']
const probe = spawnSync(namespace[0]!, [...namespace.slice(1), 'true'], { encoding: 'utf8' })
const skip =
  probe.status === 0 ? false : `unshare --pid is not to be had: ${probe.stderr?.trim() || probe.error?.message}`

class Program extends RankProcess implements AsyncDisposable {
  constructor(runtime: string, under: readonly string[]) {
    super(new URL('./fixtures/apart.js', import.meta.url), { AETHER_RUNTIME_DIRECTORY: runtime }, under)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

const newRuntime = (): string => mkdtempSync(join(scratch, 'runtime-'))

/** Two that are apart: both are process 1 of a namespace, or one is in the namespace above, where it sees the other. */
const places = { 'of one level': namespace, 'one above the other': [] }
/** Containers have a runtime directory each, unless one was mounted into both. */
const runtimes = { 'with a runtime directory each': false, 'with one runtime directory': true }

for (const [place, under] of Object.entries(places))
  for (const [runtime, isShared] of Object.entries(runtimes))
    test(`namespaces ${place}, ${runtime}: pairs and connections are refused, with why and what to do`, {
      skip,
    }, async () => {
      const directory = newRuntime()
      await using one = new Program(directory, namespace)
      await using other = new Program(isShared ? directory : newRuntime(), under)
      const ends = [one, other] as const
      const endpoints = await Promise.all(ends.map((end) => end.call<RemoteEndpoint>('open')))
      const silent = {
        name: 'VerbsError',
        code: 'ERR_AETHER_VERBS',
        message: /another pid namespace.*use a tcp device/,
      }
      for (const [at, end] of ends.entries()) {
        await assert.rejects(end.call('connectPair', endpoints[1 - at]), silent)
        assert.equal(await end.call('isConnected'), false)
      }

      // Each has a listener at the port of the other.
      const port = await one.call<number>('listen', 0)
      const refused = { code: 'ERR_AETHER_CONNECTION', message: /nothing listens .* one pid namespace .* tcp device/ }
      await assert.rejects(other.call('dial', port), refused)
      assert.equal(await other.call<number>('listen', port), port)
      for (const end of ends) assert.equal(await end.call('dial', port), true)
      for (const end of ends) assert.equal(await end.call('heard'), 1)

      // A look from the other one takes no member out of a group.
      for (let turn = 0; turn < 2; turn += 1) for (const end of ends) assert.equal(await end.call('sendToGroup'), 2)
      // The pair is not lost for others.
      for (const [at, end] of ends.entries()) {
        await end.call('connectPair', endpoints[at])
        assert.equal(await end.call('isConnected'), true)
      }
    })
