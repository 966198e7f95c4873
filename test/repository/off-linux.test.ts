import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { root } from './checkout.ts'

/** Run a module where the platform calls itself something else. */
function runOn(platform: string, program: string): { readonly output: string; readonly errors: string } {
  const pretend = `data:text/javascript,Object.defineProperty(process, 'platform', { value: '${platform}' })`
  const result = spawnSync(process.execPath, ['--import', pretend, '--input-type=module', '-e', program], {
    cwd: root,
    encoding: 'utf8',
  })
  return { output: result.stdout, errors: result.stderr }
}

for (const platform of ['darwin', 'win32']) {
  test(`on ${platform} everything can be imported, and what needs Linux says so in one sentence`, () => {
    const { output, errors } = runOn(
      platform,
      `
      const { open, join, UnsupportedError } = await import('aether-dsm')
      const { openDevice } = await import('aether-dsm/verbs')
      for (const path of ['profiling', 'testing']) await import('aether-dsm/' + path)
      const attempts = [() => open('shop'), () => join({ rank: 0, size: 1, rendezvous: 'local:here' }), () => openDevice('shm0')]
      for (const attempt of attempts) {
        try {
          await attempt()
          console.log('it opened')
        } catch (error) {
          console.log(error instanceof UnsupportedError || error.cause instanceof UnsupportedError, error.code, '|', error.message)
        }
      }`,
    )
    assert.equal(errors, '')
    const lines = output.trimEnd().split('\n')
    assert.equal(lines.length, 3)
    for (const line of lines)
      assert.match(line, new RegExp(`^true ERR_AETHER_UNSUPPORTED \\| [^\\n]*Linux[^\\n]*${platform}`))
  })
}
